//! Fields that no path of the map selects: kept under their own paths.

use chatmill_intake::json::{Kind, Value};

use crate::format::MapPath;
use crate::reader::{Keep as _, Kept, kept};

/// Keeps every field of `object` that no path selects, under its path in the object.
pub(super) fn keep(object: Value<'_>, paths: &[&MapPath], rest: &mut Kept) {
    let taken: Vec<(Vec<&str>, bool)> = paths.iter().map(|path| path.keys()).collect();
    below(object, "", &taken, rest);
}

fn below(object: Value<'_>, path: &str, taken: &[(Vec<&str>, bool)], rest: &mut Kept) {
    for (key, value) in object.fields().filter(|(_, value)| !value.is_null()) {
        let place = kept::below(path, &key);
        let mut deeper: Vec<(Vec<&str>, bool)> = Vec::new();
        let mut is_taken = false;
        for (keys, takes_all) in taken {
            match keys.split_first() {
                Some((first, [])) if **first == *key => is_taken |= takes_all,
                Some((first, after)) if **first == *key => deeper.push((after.to_vec(), *takes_all)),
                _ => {}
            }
        }
        if is_taken {
            continue;
        }
        if deeper.is_empty() || value.kind() != Kind::Object {
            rest.keep(place, value);
        } else {
            below(value, &place, &deeper, rest);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use chatmill_intake::json;

    #[test]
    fn what_a_path_takes_is_left_out_and_its_neighbours_stay() {
        let record =
            r#"{"id":1,"who":{"name":"Ann","age":7},"parts":["a"],"list":[{"x":1}],"none":null,"more":{}}"#;
        let document = json::scan(record.as_bytes(), 16).unwrap();
        let paths: Vec<MapPath> = ["$.id", "$.who.name", "$.parts[*]", "$.list[0].x"]
            .iter()
            .map(|path| MapPath::parse(path).unwrap())
            .collect();
        let mut rest = Vec::new();
        keep(document.root(), &paths.iter().collect::<Vec<_>>(), &mut rest);
        let kept: Vec<String> = rest
            .iter()
            .map(|(path, raw)| format!("{path}={}", raw.as_str()))
            .collect();
        assert_eq!(kept, ["who.age=7", "list=[{\"x\":1}]", "more={}"]);
    }
}
