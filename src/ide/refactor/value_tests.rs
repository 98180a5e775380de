//! Extracted and inlined values, and duplicate entries.

use expect_test::expect;

use super::tests::{check, in_common, titles};

#[test]
fn comments_inside_of_an_extracted_value_are_kept() {
    let text = in_common(
        "a::x:\n  $0- one  # first\n  # Between.\n  - two  # last\nb:\n  - one\n  # Other.\n  - two\nc: 1\n",
    );
    check(
        &text,
        "Extract",
        expect![[r#"
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
    "#]],
    );
    let text = in_common("a::x: $0[one,  # first\n  two]  # all\nb:\n- one\n- two  # last\n");
    check(
        &text,
        "Extract",
        expect![[r#"
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
    "#]],
    );
}

#[test]
fn the_last_of_several_entries_of_a_nested_hash_stays() {
    let text = in_common("a:\n  b:\n    x: 1  # old\n    y: 2\n    # New.\n    x$0: 3\n  c: 1\n");
    check(
        &text,
        "Keep only",
        expect![[r#"
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
        "#]],
    );
    let flow = in_common("a: {x: 1, x$0: 2}\n");
    assert!(!titles(&flow).iter().any(|title| title.starts_with("Keep")));
}

#[test]
fn the_last_of_several_entries_stays() {
    check(
        &in_common("a$0: 1\nb: 2\na: 3\n"),
        "Keep only",
        expect![[r#"
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
fn an_extracted_list_that_ends_in_a_block_of_text_keeps_its_lines() {
    let text = in_common(
        "a::x:\n  $0- one  # first\n  - |\n    two\n    lines\n# Next.\nb:\n  - one\n  - |\n    two\n    lines\n",
    );
    check(
        &text,
        "Extract",
        expect![[r#"
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
    "#]],
    );
}

#[test]
fn a_repeated_value_gets_a_key() {
    let text = in_common(
        "a::x: $0'some text'\nb:\n  c:\n    - some text\n    - \"some text\"\nlookup_options:\n  a: {merge: first}\n",
    );
    check(
        &text,
        "Extract",
        expect![[r#"
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
    "#]],
    );
    let text = in_common("a::x:\n  $0- one\n  - two\nb:\n  - one\n  - two\n");
    check(
        &text,
        "Extract",
        expect![[r#"
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
    assert!(
        !titles(&in_common("a: $01\nb: 1\n"))
            .iter()
            .any(|title| title.starts_with("Extract"))
    );
}

#[test]
fn aliases_are_inlined() {
    check(
        &in_common("a: \"%{alias('b')}$0\"  # x\nb: ['x', \"y\"]\n"),
        "Inline 'b'",
        expect![[r#"
            Inline 'b': changes no effective value
            --- data/common.yaml
            +++ data/common.yaml
            @@ -1,2 +1,2 @@
            -a: "%{alias('b')}"  # x
            +a: ['x', "y"]  # x
             b: ['x', "y"]
        "#]],
    );
    check(
        &in_common("a: &a some text\nb: *$0a\n"),
        "Inline '*a'",
        expect![[r#"
            Inline '*a': changes no effective value
            --- data/common.yaml
            +++ data/common.yaml
            @@ -1,2 +1,2 @@
             a: &a some text
            -b: *a
            +b: some text
        "#]],
    );
}

#[test]
fn an_inlined_block_keeps_its_comments_and_quotes() {
    check(
        &in_common("b: &b # its own\n  # first\n  - 'x' # one\n  - y\na: *$0b # mine\nc: 1\n"),
        "Inline '*b'",
        expect![[r#"
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
        "#]],
    );
    check(
        &in_common("b: |\n  one\n    two\na: \"%{alias('b')}$0\" # mine\nc: 1\n"),
        "Inline 'b'",
        expect![[r#"
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
        "#]],
    );
}

#[test]
fn an_inlined_hash_leaves_no_blank_behind_its_key() {
    check(
        &in_common("a: &h\n  x: 1\nb: *$0h\n"),
        "Inline '*h'",
        expect![[r#"
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
