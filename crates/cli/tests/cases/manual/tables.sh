cat > bot.csv <<'END'
user,text,time
kim,"Is it open, still?",2026-01-05 10:00:00
helpbot,"Yes, until four.",2026-01-05 10:00:05
lee,"Thanks, both.",2026-01-05 10:01:00
END
cp data-samples/first-hour/shop.db .
