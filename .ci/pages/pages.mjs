// Opens pages of `chatmill show` in Chromium: no request, no error, nothing that axe finds in light and dark, no sideways scrolling in
// 420 pixels, keys, tokens, hostile text; then how soon 1,000 and 100,000 messages are drawn.
//
// node pages.mjs CHATMILL SAMPLES FOLDER, with puppeteer-core and axe-core in FOLDER/node_modules and Chromium at $CHROMIUM.
import { execFileSync } from "node:child_process";
import { readFileSync, statSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { resolve } from "node:path";
import { pathToFileURL } from "node:url";

const [chatmill, samples, folder] = process.argv.slice(2).map((path) => resolve(path));
const require = createRequire(`${folder}/`);
const puppeteer = require("puppeteer-core");
const axe = readFileSync(require.resolve("axe-core/axe.min.js"), "utf8");

const faults = [];
const hold = (is, what) => {
  console.log(`${is ? "ok" : "FAULT"}  ${what}`);
  if (!is) faults.push(what);
};
const show = (name, ...words) => {
  const path = `${folder}/${name}.html`;
  execFileSync(chatmill, ["show", ...words, "--out", path], { stdio: ["ignore", "ignore", "inherit"] });
  return path;
};

const hostile = [
  "</script><script>document.title = 'taken'</script><img src=x onerror=\"document.title = 'taken'\">",
  "\u202eesrever\u0007\u001b[2J ]]> <!-- ${x} {{ y }}",
  "👩‍🚀".repeat(10000),
  "w".repeat(100000),
  "שלום עולם and مرحبا",
];
const chat = (texts) =>
  JSON.stringify({ messages: texts.map((content, at) => ({ role: at % 2 ? "assistant" : "user", content })) });
const written = (name, texts) => {
  const path = `${folder}/${name}.json`;
  writeFileSync(path, chat(texts));
  return path;
};
const words = (number) => Array.from({ length: number }, (_, at) => `Message ${at}: the ferry leaves at ${at % 24}:00, berth ${at % 9}.`);

const pixel =
  "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==";
const picture = `${folder}/picture.json`;
writeFileSync(
  picture,
  JSON.stringify({
    messages: [
      { role: "user", content: [{ type: "image_url", image_url: { url: `data:image/png;base64,${pixel}` } }] },
      { role: "assistant", content: "A red point." },
    ],
  }),
);

const node = (id, role, text, parent, children) => ({
  id,
  parent,
  children,
  message: role && { id, author: { role }, content: { content_type: "text", parts: [text] } },
});
const nodes = [
  node("r", null, "", null, ["u1"]),
  node("u1", "user", "When do we water the beans?", "r", ["a1", "a2"]),
  node("a1", "assistant", "At noon.", "u1", []),
  node("a2", "assistant", "At six.", "u1", ["u2", "u3"]),
  node("u2", "user", "And the peas?", "a2", ["a4"]),
  node("a4", "assistant", "They like it damp.", "u2", []),
  node("u3", "user", "And the kale?", "a2", ["a3"]),
  node("a3", "assistant", "Twice a week.", "u3", []),
];
const tree = `${folder}/tree.json`;
const mapping = Object.fromEntries(nodes.map((one) => [one.id, one]));
writeFileSync(tree, JSON.stringify([{ title: "Beans", conversation_id: "tree", current_node: "a3", mapping }]));

const browser = await puppeteer.launch({
  executablePath: process.env.CHROMIUM ?? "/usr/bin/chromium",
  args: ["--no-sandbox", "--disable-gpu"],
});
const open = async (path, { dark = false, width = 1400, script = true } = {}) => {
  const page = await browser.newPage();
  const seen = [];
  page.on("request", (request) => seen.push(request.url()));
  page.on("pageerror", (error) => faults.push(`${path}: ${error}`));
  page.on("console", (line) => line.type() === "error" && faults.push(`${path}: ${line.text()}`));
  await page.setJavaScriptEnabled(script);
  await page.setViewport({ width, height: 900 });
  await page.emulateMediaFeatures([{ name: "prefers-color-scheme", value: dark ? "dark" : "light" }]);
  await page.goto(pathToFileURL(path).href, { timeout: 120000 });
  return { page, seen };
};

const pages = {
  ferry: show("ferry", `${samples}/demo/launch-week.json`),
  sample: show("sample", `${samples}/demo`, "--sample", "4"),
  hostile: show("hostile", written("hostile", hostile)),
  picture: show("picture", picture, "--media"),
  tree: show("tree", tree, "--as", "each-participant"),
};
for (const [name, path] of Object.entries(pages)) {
  for (const dark of [false, true]) {
    const { page, seen } = await open(path, { dark });
    hold(
      seen.every((url) => url === pathToFileURL(path).href || url.startsWith("data:")),
      `${name}: nothing is fetched`,
    );
    // The policy of the page lets no script in; the tool that drives the browser may.
    const client = await page.createCDPSession();
    await client.send("Runtime.evaluate", { expression: axe });
    const { violations } = await page.evaluate(() => globalThis.axe.run());
    for (const { id, help, nodes: [first] } of violations) console.log(`  ${id}: ${help}: ${first.html.slice(0, 200)}`);
    hold(violations.length === 0, `${name}: axe finds nothing in ${dark ? "dark" : "light"}`);
    await page.screenshot({ path: `${folder}/${name}-${dark ? "dark" : "light"}.png` });
    await page.close();
  }
  const { page } = await open(path, { width: 420 });
  const wide = await page.evaluate(() => document.documentElement.scrollWidth - innerWidth);
  hold(wide <= 0, `${name}: 420 pixels are enough (${wide} more)`);
  await page.screenshot({ path: `${folder}/${name}-420.png` });
  await page.close();
}

{
  const { page } = await open(pages.ferry);
  await page.keyboard.press("j");
  await page.keyboard.press("j");
  const at = () => page.evaluate(() => document.activeElement.id);
  hold((await at()) === "m2", "j goes to the next message");
  hold(
    (await page.evaluate(() => document.querySelectorAll(".words .is-marked").length)) > 0,
    "the turn of a message is marked",
  );
  await page.keyboard.press("k");
  hold((await at()) === "m1", "k goes back");
  await page.keyboard.press("/");
  await page.keyboard.type("night line");
  await page.keyboard.press("Enter");
  hold((await page.$eval(".search output", (one) => one.textContent)).startsWith("1 of "), "/ finds words");
  await page.keyboard.press("Escape");
  await page.keyboard.press("?");
  hold(await page.$eval("dialog.keys", (one) => one.open), "? shows the keys");
  hold((await page.evaluate(() => CSS.highlights.get("token").size)) > 100, "tokens are painted");
  // Every token is where the text of the rendering is: the last painted one ends before the end, and none is empty.
  const all = await page.evaluate(() => [...CSS.highlights.get("token")].every((range) => !range.collapsed));
  hold(all, "no token is empty");
  await page.close();
}
{
  // The picture of docs/show.md.
  const choice = ["--conversation", "desk_4412", "--dialect", "openai-chat"];
  const { page } = await open(show("picture-of-docs", `${process.argv[3]}/demo`, ...choice), { width: 1180 });
  await page.setViewport({ width: 1180, height: 620 });
  await page.focus("article.message:nth-of-type(2)");
  await page.screenshot({ path: `${folder}/show.png` });
  await page.close();
}
{
  const { page } = await open(pages.sample);
  await page.keyboard.press("]");
  await page.keyboard.press("]");
  const title = await page.evaluate(() => [...document.querySelectorAll(".title")].indexOf(document.activeElement));
  hold(title === 1, "] goes to the next conversation");
  await page.close();
}
{
  const { page } = await open(pages.hostile);
  const text = await page.$eval("#m0 .text", (one) => one.textContent);
  hold(text === hostile[0], "markup is text");
  hold((await page.title()) !== "taken", "no script of a chat runs");
  await page.close();
}
{
  const { page } = await open(pages.tree);
  const shows = (sought) =>
    page.evaluate((text) => [...document.querySelectorAll("article .text")].some((one) => one.textContent === text && one.checkVisibility()), sought);
  hold((await shows("And the kale?")) && !(await shows("And the peas?")), "the version of the chat is shown first");
  await page.focus("#m2 [role=tab]");
  await page.keyboard.press("ArrowRight");
  hold((await shows("They like it damp.")) && !(await shows("Twice a week.")), "another version takes the place of what follows");
  hold(await page.evaluate(() => document.activeElement.getAttribute("aria-selected") === "true"), "arrows go from tab to tab");
  await page.keyboard.press("Home");
  hold(await shows("Twice a week."), "and back");
  await page.keyboard.press("Escape");
  await page.evaluate(() => document.activeElement.blur());
  await page.keyboard.press("/");
  await page.keyboard.type("like it damp");
  await page.keyboard.press("Enter");
  hold(await shows("They like it damp."), "/ finds words of another version");
  const visible = () => page.$$eval("details.rendering", (all) => all.filter((one) => one.checkVisibility()).map((one) => one.querySelector("b").textContent));
  const first = await visible();
  await page.select(".chooser [name=perspective]", "user");
  await page.select(".chooser [name=dialect]", "anthropic-messages");
  const second = await visible();
  hold(first.length === 1 && second.join() === "anthropic-messages for user", `one rendering is shown, the chosen one (${second})`);
  await page.emulateMediaType("print");
  hold((await shows("And the peas?")) && (await shows("Twice a week.")), "on paper all versions are shown");
  await page.close();
}
{
  const { page } = await open(pages.picture);
  hold(await page.$eval("article img", (one) => one.naturalWidth === 1), "a picture is shown");
  await page.close();
}
{
  const { page } = await open(pages.ferry, { script: false });
  const texts = await page.$$eval("article", (all) => all.length);
  hold(texts === 22, "without scripts it is a transcript");
  await page.close();
}

const median = (list) => list.sort((one, other) => one - other)[Math.floor(list.length / 2)];
for (const [number, rounds, most] of [[1000, 5, 2000], [100000, 1, 60000]]) {
  const path = show(`long-${number}`, written(`long-${number}`, words(number)));
  const times = [];
  for (let round = 0; round < rounds; round += 1) {
    const begin = performance.now();
    const { page } = await open(path);
    await page.evaluate(() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done))));
    times.push(performance.now() - begin);
    await page.keyboard.press("j");
    await page.close();
  }
  const bytes = statSync(path).size;
  const [milliseconds, megabytes] = [Math.round(median(times)), (bytes / 1e6).toFixed(2)];
  hold(milliseconds <= most, `${number} messages are drawn in ${milliseconds} ms (median of ${rounds})`);
  hold(number > 1000 || bytes <= 5e6, `${number} messages take ${megabytes} MB`);
}
await browser.close();
if (faults.length > 0) {
  console.log(`\n${faults.join("\n")}`);
  process.exit(1);
}
