//! Names of models, and the lists of other projects.

use proptest::prelude::*;

use super::*;

fn list(entries: &[(&str, f64, &str)]) -> PriceList {
    let entry = |(model, per_million, more): &(&str, f64, &str)| {
        format!(
            "[[price]]\nmodel = \"{model}\"\ncurrency = \"USD\"\nper_million = {per_million}\nper_million_output = 10\n{more}\n\
             date = \"2026-06-01\"\nsource = \"list\"\n"
        )
    };
    PriceList::parse(&entries.iter().map(entry).collect::<String>(), &[]).unwrap()
}

/// The name of the price of a model, or the reason why there is none.
fn found(list: &PriceList, model: &str) -> String {
    match list.find(model, "", None) {
        Ok(price) => price.model.clone(),
        Err(reason) => reason.to_string(),
    }
}

#[test]
fn a_price_is_that_of_its_model_under_the_names_of_dates_versions_vendors_and_regions_only() {
    let list = list(&[
        ("gpt-5", 1.25, ""),
        ("gpt-4o", 2.5, ""),
        ("claude-opus-4", 15.0, ""),
        (
            "claude-sonnet-4-5",
            3.0,
            "aliases = [\"anthropic/claude-sonnet-4.5\"]",
        ),
        ("gemini-2.5-pro", 1.25, ""),
        ("gemini-2.5-flash", 0.3, ""),
        ("o1", 15.0, ""),
    ]);
    for (model, of) in [
        ("gpt-5", "gpt-5"),
        ("GPT-5", "gpt-5"),
        ("gpt-5-2025-08-07", "gpt-5"),
        ("openai/gpt-5", "gpt-5"),
        ("claude-opus-4-20250514", "claude-opus-4"),
        (
            "us.anthropic.claude-sonnet-4-5-20250929-v1:0",
            "claude-sonnet-4-5",
        ),
        ("claude-sonnet-4-5@20250929", "claude-sonnet-4-5"),
        ("anthropic/claude-sonnet-4.5", "claude-sonnet-4-5"),
        ("models/gemini-2.5-pro", "gemini-2.5-pro"),
        ("azure/eu/gpt-5", "gpt-5"),
    ] {
        assert_eq!(found(&list, model), of, "{model}");
    }
    for model in [
        "gpt-5-mini",
        "gpt-4o-mini-2024-07-18",
        "claude-opus-4-5-20251101",
        "gemini-2.5-flash-lite",
        "o1-pro",
        "ft:gpt-4o-2024-08-06:desk::1",
        "gpt-5:free",
        "claude-sonnet-4-5:thinking",
        "claude-opus-4-fast",
        "gpt-5-priority",
        "gpt-5-batch",
        "",
        "/",
        "-20251101",
    ] {
        assert_eq!(found(&list, model), "no price has this name", "{model}");
    }
}

#[test]
fn a_date_or_a_prefix_falls_away_only_where_all_that_fit_have_one_price() {
    let list = list(&[
        ("gpt-4o-2024-05-13", 5.0, ""),
        ("gpt-4o", 2.5, ""),
        ("us.anthropic.claude-opus-4", 5.5, ""),
        ("claude-opus-4", 5.0, ""),
        ("gpt-4-1106-preview", 10.0, ""),
        ("gpt-4", 30.0, ""),
    ]);
    assert_eq!(found(&list, "gpt-4o-2024-05-13"), "gpt-4o-2024-05-13");
    assert_eq!(
        found(&list, "gpt-4o-2024-08-06"),
        "the prices of `gpt-4o-2024-05-13` and `gpt-4o` both fit, and differ"
    );
    assert_eq!(
        found(&list, "eu.anthropic.claude-opus-4-20250514"),
        "the prices of `us.anthropic.claude-opus-4` and `claude-opus-4` both fit, and differ"
    );
    // The bare name is the vendor's.
    assert_eq!(found(&list, "anthropic/claude-opus-4-20250514"), "claude-opus-4");
    assert_eq!(found(&list, "gpt-4-0613"), "gpt-4");
    assert_eq!(found(&list, "gpt-4-1106"), "no price has this name");
}

#[test]
fn a_price_holds_on_its_days_and_date_stays_a_remark() {
    let list = list(&[
        ("m", 2.0, "until = \"2026-05-31\""),
        ("m", 1.0, "from = \"2026-06-01\""),
        ("n", 1.0, "from = \"2026-06-01\""),
    ]);
    let rate = |model, day| {
        list.find(model, day, None)
            .map(|price| price.per_million().unwrap())
    };
    assert_eq!(rate("m", "2026-05-31"), Ok(2.0));
    assert_eq!(rate("m", "2026-06-01"), Ok(1.0));
    assert_eq!(rate("m", ""), Err(Unpriced::Undated));
    assert_eq!(rate("m", "undated"), Err(Unpriced::Undated));
    assert_eq!(
        rate("n", "2026-05-31"),
        Err(Unpriced::Day("2026-05-31".to_owned()))
    );
    assert!(list.division().unwrap().by_day);
}

const LITELLM: &str = r#"{
    "sample_spec": { "litellm_provider": "one of", "input_cost_per_token": 0.0 },
    "mill-large": { "litellm_provider": "mill", "mode": "chat", "input_cost_per_token": 3e-06, "output_cost_per_token": 1.5e-05,
        "cache_read_input_token_cost": 3e-07, "cache_creation_input_token_cost": 3.75e-06, "cache_creation_input_token_cost_above_1hr": 6e-06,
        "input_cost_per_token_above_200k_tokens": 6e-06, "output_cost_per_token_above_200k_tokens": 2.25e-05,
        "cache_creation_input_token_cost_above_1hr_above_200k_tokens": 1.2e-05, "input_cost_per_token_batches": 1.5e-06,
        "input_cost_per_token_priority": 9e-06,
        "search_context_cost_per_query": { "search_context_size_low": 0.01, "search_context_size_high": 0.01 } },
    "mill-thinks": { "litellm_provider": "mill", "input_cost_per_token": 1e-06, "output_cost_per_token": 2e-06, "output_cost_per_reasoning_token": 3e-06,
        "search_context_cost_per_query": { "search_context_size_low": 0.01, "search_context_size_high": 0.02 } },
    "mill-tiers": { "litellm_provider": "mill", "tiered_pricing": [
        { "input_cost_per_token": 5e-08, "output_cost_per_token": 4e-07, "range": [0, 256500.0] },
        { "input_cost_per_token": 2.5e-07, "output_cost_per_token": 2e-06, "range": [256500.0, 1000000.0] }] },
    "mill-draws": { "litellm_provider": "mill", "output_cost_per_image": 0.04 },
    "mill-latest": { "alias_of": "mill-large" },
    "odd": 7
}"#;

#[test]
fn the_list_of_litellm_is_read_as_it_is() {
    let list = PriceList::parse(&format!("\u{feff}{LITELLM}"), &[]).unwrap();
    assert_eq!((list.len(), list.each().len(), list.currency()), (3, 0, "USD"));
    assert_eq!(found(&list, "mill-latest"), "mill-large");
    let large = list.find("mill-large", "", None).unwrap();
    let rates = |tier, above| large.rates.get(&(tier, above)).copied().unwrap_or_default();
    let of = |input, cached_input, cache_write, cache_write_1h, output| Rates {
        input,
        cached_input,
        cache_write,
        cache_write_1h,
        output,
    };
    assert_eq!(
        rates(ServiceTier::Standard, 0),
        of(Some(3.0), Some(0.3), Some(3.75), Some(6.0), Some(15.0))
    );
    assert_eq!(
        rates(ServiceTier::Standard, 200_000),
        of(Some(6.0), None, None, Some(12.0), Some(22.5))
    );
    assert_eq!(
        rates(ServiceTier::Batch, 0),
        of(Some(1.5), None, None, None, None)
    );
    assert_eq!(large.per_search, Some(0.01));
    let thinks = list.find("mill-thinks", "", None).unwrap();
    assert_eq!((thinks.per_million_output(), thinks.per_search), (None, None));
    let tiers = list.find("mill-tiers", "", None).unwrap();
    assert_eq!(tiers.thresholds().collect::<Vec<_>>(), [256_500]);
    assert_eq!(
        list.remark().unwrap(),
        "LiteLLM's list has 3 prices of tokens, and 2 models without one; prices of 1 kind are not read: \
         `search_context_cost_per_query`"
    );
    assert_eq!(list.division().unwrap().lengths, [200_000, 256_500]);
}

const MODELS_DEV: &str = r#"{
    "openai": { "id": "openai", "models": {
        "gpt-9": { "id": "gpt-9", "cost": { "input": 2, "output": 8, "cache_read": 0.5, "tiers": [{ "input": 4, "output": 12, "tier": { "size": 272000 } }],
            "context_over_200k": { "input": 4, "output": 12 } } },
        "gpt-9-open": { "id": "gpt-9-open" } } },
    "reseller": { "id": "reseller", "models": {
        "gpt-9": { "cost": { "input": 3, "output": 8, "input_audio": 9, "context_over_200k": { "input": 6 } } },
        "gpt-8": { "cost": { "input": 1, "output": 2, "reasoning": 2 } } } }
}"#;

#[test]
fn a_price_of_thoughts_at_any_length_leaves_the_output_without_one() {
    let tier = |thoughts: &str, start: u64| {
        format!(
            r#"{{"input_cost_per_token":1e-6,"output_cost_per_token":2e-6,"output_cost_per_reasoning_token":{thoughts},"range":[{start},{}]}}"#,
            start + 1000
        )
    };
    let litellm = |first: &str, second: &str| {
        let tiers = [tier(first, 0), tier(second, 1000)].join(",");
        format!(r#"{{"mill":{{"litellm_provider":"mill","tiered_pricing":[{tiers}]}}}}"#)
    };
    let dev = |reasoning: u64| {
        format!(
            r#"{{"mill":{{"models":{{"mill":{{"cost":{{"input":1,"output":2,"tiers":[{{"input":1,"output":2,"reasoning":{reasoning},"tier":{{"size":1000}}}}]}}}}}}}}}}"#
        )
    };
    // Tiers of service and lengths without a price of thoughts have one price for all output.
    let flex = r#"{"mill":{"litellm_provider":"mill","input_cost_per_token":1e-6,"output_cost_per_token":2e-6,"output_cost_per_reasoning_token":2e-6,"output_cost_per_token_flex":1e-6}}"#;
    for (text, output) in [
        (litellm("2e-6", "2e-6"), Some(2.0)),
        (litellm("3e-6", "2e-6"), None),
        (litellm("2e-6", "3e-6"), None),
        (dev(2), Some(2.0)),
        (dev(3), None),
        (flex.to_owned(), Some(2.0)),
    ] {
        let list = PriceList::parse(&text, &[]).unwrap();
        let price = list.find("mill", "", None).unwrap();
        assert_eq!(price.per_million_output(), output, "{text}");
        assert!(
            price
                .rates
                .values()
                .all(|rates| rates.output.is_some() == output.is_some())
        );
    }
}

#[test]
fn the_list_of_models_dev_is_read_as_it_is() {
    let list = PriceList::parse(MODELS_DEV, &[]).unwrap();
    for (model, of) in [
        ("gpt-9", "openai/gpt-9"),
        ("gpt-9-2030-01-02", "openai/gpt-9"),
        ("reseller/gpt-9", "reseller/gpt-9"),
        (
            "other/gpt-9",
            "the prices of `openai/gpt-9` and `reseller/gpt-9` both fit, and differ",
        ),
        ("gpt-8", "reseller/gpt-8"),
        ("gpt-9-open", "no price has this name"),
    ] {
        assert_eq!(found(&list, model), of, "{model}");
    }
    assert_eq!(
        list.find("gpt-8", "", None).unwrap().per_million_output(),
        Some(2.0)
    );
    let lengths = list.division().unwrap().lengths;
    assert_eq!(lengths, [200_000, 272_000]);
    assert!(list.remark().unwrap().contains(
        "3 prices of tokens, and 1 model without one; prices of 1 kind are not read: `input_audio`"
    ));
}

#[test]
fn other_json_is_no_list_of_prices() {
    for text in [
        "{}",
        "{\"a\": 1}",
        "{\"a\": {\"models\": 1}}",
        "{\"a\": {\"models\": {}}}",
        "{\"a\": {\"litellm_provider\": \"x\"}}",
        "{",
    ] {
        assert!(PriceList::parse(text, &[]).is_err(), "{text}");
    }
}

/// The components of a name: prefixes, models, and suffixes.
const BEFORE: &[&str] = &["", "us.anthropic.", "azure/", "azure/eu/", "reseller/openai/"];
const MODELS: &[&str] = &[
    "mill-5",
    "mill-5-mini",
    "mill-5-fast",
    "mill-5:free",
    "ft:mill-5",
    "mill-4.1",
];
const AFTER: &[&str] = &[
    "",
    "-20251101",
    "-2024-07-18",
    "@20250929",
    "-20250929-v1:0",
    "-latest",
    "-001",
];

proptest! {
    #![proptest_config(chatmill_drawn::law(64))]

    /// A name has the price of its entry, or the one price of all names of its model; never that of another model.
    #[test]
    fn no_name_has_the_price_of_another_model(
        entries in prop::collection::btree_map((0..BEFORE.len(), 0..MODELS.len(), 0..AFTER.len()), 1..4_u8, 1..12),
        asked in (0..BEFORE.len(), 0..MODELS.len(), 0..AFTER.len()),
    ) {
        let name = |(before, model, after): (usize, usize, usize)| format!("{}{}{}", BEFORE[before], MODELS[model], AFTER[after]);
        let named: Vec<(String, f64)> = entries.iter().map(|(of, price)| (name(*of), f64::from(*price))).collect();
        let named: Vec<(&str, f64, &str)> = named.iter().map(|(name, price)| (name.as_str(), *price, "")).collect();
        let found = list(&named).find(&name(asked), "", None).map(|price| (price.model.clone(), price.per_million().unwrap()));
        let of_model: BTreeSet<u8> = entries.iter().filter(|(of, _)| of.1 == asked.1).map(|(_, price)| *price).collect();
        match (entries.get(&asked), found) {
            (Some(price), found) => prop_assert_eq!(found, Ok((name(asked), f64::from(*price)))),
            (None, Ok((name, price))) => {
                let of = entries.keys().find(|of| format!("{}{}{}", BEFORE[of.0], MODELS[of.1], AFTER[of.2]) == name).unwrap();
                prop_assert_eq!(of.1, asked.1, "{} for {:?}", name, asked);
                // A price of the same vendor and region, for any date; or one that all entries share.
                let near = entries.iter().filter(|(of, _)| of.0 == asked.0 && of.1 == asked.1);
                let near: BTreeSet<u8> = near.map(|(_, price)| *price).collect();
                let prices = if near.is_empty() { of_model } else { near };
                prop_assert_eq!(prices.into_iter().map(f64::from).collect::<Vec<_>>(), [price]);
            }
            (None, Err(Unpriced::Name)) => prop_assert!(of_model.is_empty() || asked.1 == 4),
            (None, Err(reason)) => prop_assert!(matches!(reason, Unpriced::Several(..)) && of_model.len() > 1, "{reason}"),
        }
    }
}

/// `just prices`: every name of a real list has its own price, and with dates, versions and vendors the same price or none.
#[test]
#[ignore = "needs a list of prices, CHATMILL_PRICES"]
#[expect(clippy::disallowed_methods, reason = "the list is no input")]
fn no_name_of_a_real_list_has_the_price_of_another() {
    let text = std::fs::read_to_string(std::env::var("CHATMILL_PRICES").unwrap()).unwrap();
    let list = PriceList::parse(&text, &[]).unwrap();
    println!("{}", list.remark().unwrap_or_default());
    let (mut same, mut none) = (0, 0);
    let mut check = |price: &Price, name: &str, other: &str| match list.find(name, "", None) {
        // The name itself may be in the list, and another way of serving may have another price.
        Ok(found) if other.is_empty() => {
            assert!(
                found.costs_as(price) || list.by_name.contains_key(name),
                "{name} has the price of {}",
                found.model
            );
            same += 1;
        }
        Ok(found) => assert!(
            found.model.to_lowercase().contains(other),
            "{name} has the price of {}",
            found.model
        ),
        Err(_) => none += 1,
    };
    for price in &list.prices {
        let model = &price.model;
        check(price, model, "");
        for after in [
            "-20301231",
            "-2030-12-31",
            "@20301231",
            "-20301231-v1:0",
            "-latest",
            "-001",
        ] {
            check(price, &format!("{model}{after}"), "");
        }
        for before in ["gateway/", "gateway/eu/"] {
            check(price, &format!("{before}{model}"), "");
        }
        for other in ["-fast", ":free", ":thinking", "-batch", "-priority", "-mini-x"] {
            check(price, &format!("{model}{other}"), other);
        }
        check(price, &format!("ft:{model}"), "ft:");
    }
    println!("{same} names have the price of their model, and {none} have none");
    // Without its own entry, a name may only have the price of another date.
    let mut guessed = Vec::new();
    for place in 0..list.prices.len() {
        let mut others = list.prices.clone();
        let own = others.swap_remove(place);
        if others.iter().all(|other| other.model != own.model) && place % 20 == 0 {
            let others = PriceList::of(others);
            if let Ok(found) = others.find(&own.model, "", None)
                && !found.costs_as(&own)
            {
                guessed.push(format!("{} as {}", own.model, found.model));
            }
        }
    }
    println!(
        "without their own entry {} of every 20th name have a price that differs: {guessed:?}",
        guessed.len()
    );
}
