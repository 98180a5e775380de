//! Extracted and inlined values, and duplicate entries.

use expect_test::expect;

use super::tests::{check_titled, in_common, titles};

#[test]
fn repeated_values_are_extracted() {
    check_titled(
        in_common,
        expect![[r#"
            ## comments inside of an extracted value are kept
            $ Extract ← a::x:\n  $0- one  # first\n  # Between.\n  - two  # last\nb:\n  - one\n  # Other.\n  - two\nc: 1\n
            Extract this value, which occurs 2 times, into 'a::x_shared': changes no effective value
            --- data/common.yaml
            +++ data/common.yaml
            @@ -1,9 +1,8 @@
            -a::x:
            +a::x: "%{alias('a::x_shared')}"
            +# Other.
            +a::x_shared:
               - one  # first
               # Between.
               - two  # last
            -b:
            -  - one
            -  # Other.
            -  - two
            +b: "%{alias('a::x_shared')}"
             c: 1
            $ Extract ← a::x: $0[one,  # first\n  two]  # all\nb:\n- one\n- two  # last\n
            Extract this value, which occurs 2 times, into 'a::x_shared': changes no effective value
            --- data/common.yaml
            +++ data/common.yaml
            @@ -1,5 +1,7 @@
            -a::x: [one,  # first
            -  two]  # all
            -b:
            +a::x: "%{alias('a::x_shared')}"  # all
            +# first
            +# last
            +a::x_shared:
             - one
            -- two  # last
            +- two
            +b: "%{alias('a::x_shared')}"
            ## an extracted list that ends in a block of text keeps its lines
            $ Extract ← a::x:\n  $0- one  # first\n  - |\n    two\n    lines\n# Next.\nb:\n  - one\n  - |\n    two\n    lines\n
            Extract this value, which occurs 2 times, into 'a::x_shared': changes no effective value
            --- data/common.yaml
            +++ data/common.yaml
            @@ -1,11 +1,8 @@
            -a::x:
            +a::x: "%{alias('a::x_shared')}"
            +a::x_shared:
               - one  # first
               - |
                 two
                 lines
             # Next.
            -b:
            -  - one
            -  - |
            -    two
            -    lines
            +b: "%{alias('a::x_shared')}"
            ## a repeated value gets a key
            $ Extract ← a::x: $0'some text'\nb:\n  c:\n    - some text\n    - "some text"\nlookup_options:\n  a: {merge: first}\n
            Extract this value, which occurs 3 times, into 'a::x_shared': changes no effective value
            --- data/common.yaml
            +++ data/common.yaml
            @@ -1,7 +1,8 @@
            -a::x: 'some text'
            +a::x: "%{alias('a::x_shared')}"
            +a::x_shared: some text
             b:
               c:
            -    - some text
            -    - "some text"
            +    - "%{alias('a::x_shared')}"
            +    - "%{alias('a::x_shared')}"
             lookup_options:
               a: {merge: first}
            $ Extract ← a::x:\n  $0- one\n  - two\nb:\n  - one\n  - two\n
            Extract this value, which occurs 2 times, into 'a::x_shared': changes no effective value
            --- data/common.yaml
            +++ data/common.yaml
            @@ -1,6 +1,5 @@
            -a::x:
            -  - one
            -  - two
            -b:
            +a::x: "%{alias('a::x_shared')}"
            +a::x_shared:
               - one
               - two
            +b: "%{alias('a::x_shared')}"
        "#]],
    );
}

#[test]
fn the_last_of_several_entries_is_kept() {
    check_titled(
        in_common,
        expect![[r#"
            ## the last of several entries of a nested hash stays
            $ Keep only ← a:\n  b:\n    x: 1  # old\n    y: 2\n    # New.\n    x$0: 3\n  c: 1\n
            Keep only the last of 2 entries of 'a.b.x': changes no effective value
            --- data/common.yaml
            +++ data/common.yaml
            @@ -1,7 +1,6 @@
             a:
               b:
            -    x: 1  # old
            -    y: 2
                 # New.
                 x: 3
            +    y: 2
               c: 1
            ## the last of several entries stays
            $ Keep only ← a$0: 1\nb: 2\na: 3\n
            Keep only the last of 2 entries of 'a': changes no effective value
            --- data/common.yaml
            +++ data/common.yaml
            @@ -1,3 +1,2 @@
            -a: 1
             b: 2
             a: 3
        "#]],
    );
}

#[test]
fn values_are_inlined() {
    check_titled(
        in_common,
        expect![[r#"
            ## aliases are inlined
            $ Inline 'b' ← a: "%{alias('b')}$0"  # x\nb: ['x', "y"]\n
            Inline 'b': changes no effective value
            --- data/common.yaml
            +++ data/common.yaml
            @@ -1,2 +1,2 @@
            -a: "%{alias('b')}"  # x
            +a: ['x', "y"]  # x
             b: ['x', "y"]
            $ Inline '*a' ← a: &a some text\nb: *$0a\n
            Inline '*a': changes no effective value
            --- data/common.yaml
            +++ data/common.yaml
            @@ -1,2 +1,2 @@
             a: &a some text
            -b: *a
            +b: some text
            ## an inlined block keeps its comments and quotes
            $ Inline '*b' ← b: &b # its own\n  # first\n  - 'x' # one\n  - y\na: *$0b # mine\nc: 1\n
            Inline '*b': changes no effective value
            --- data/common.yaml
            +++ data/common.yaml
            @@ -2,5 +2,8 @@
               # first
               - 'x' # one
               - y
            -a: *b # mine
            +a: # mine
            +  # first
            +  - 'x' # one
            +  - y
             c: 1
            $ Inline 'b' ← b: |\n  one\n    two\na: "%{alias('b')}$0" # mine\nc: 1\n
            Inline 'b': changes no effective value
            --- data/common.yaml
            +++ data/common.yaml
            @@ -1,5 +1,7 @@
             b: |
               one
                 two
            -a: "%{alias('b')}" # mine
            +a: | # mine
            +  one
            +    two
             c: 1
            ## an inlined hash leaves no blank behind its key
            $ Inline '*h' ← a: &h\n  x: 1\nb: *$0h\n
            Inline '*h': changes no effective value
            --- data/common.yaml
            +++ data/common.yaml
            @@ -1,3 +1,4 @@
             a: &h
               x: 1
            -b: *h
            +b:
            +  x: 1
        "#]],
    );
}

#[test]
fn short_values_and_flow_hashes_are_left_alone() {
    for (text, title) in [
        ("a: $01\nb: 1\n", "Extract"),
        ("a: {x: 1, x$0: 2}\n", "Keep"),
    ] {
        let titles = titles(&in_common(text));
        assert!(!titles.iter().any(|it| it.starts_with(title)), "{text}");
    }
}
