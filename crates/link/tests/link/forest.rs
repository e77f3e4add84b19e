use chatmill_link::Forest;

#[test]
fn members_of_one_key_have_one_root() {
    let mut forest = Forest::default();
    let members: Vec<usize> = (0..6).map(|_| forest.add()).collect();
    for (member, keys) in [
        (0, [1, 10]),
        (1, [2, 11]),
        (2, [3, 12]),
        (3, [4, 10]),
        (4, [4, 11]),
        (5, [6, 13]),
    ] {
        for key in keys {
            forest.connect(members[member], key);
        }
    }
    let roots: Vec<usize> = members.iter().map(|member| forest.root(*member)).collect();
    assert_eq!(roots, [0, 0, 2, 0, 0, 5]);
}

#[test]
fn long_chains_are_found_in_reasonable_time() {
    let mut forest = Forest::default();
    for number in 0..200_000_u128 {
        let member = forest.add();
        forest.connect(member, number);
        forest.connect(member, number + 1);
    }
    assert_eq!(forest.root(199_999), 0);
}
