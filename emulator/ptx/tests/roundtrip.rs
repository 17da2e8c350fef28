//! Random modules: the printed text reads as the same tree.

use proptest::prelude::*;
use proptest::{collection::vec, option};
use ptx::Span;
use ptx::ast::*;

fn name() -> impl Strategy<Value = String> {
    prop_oneof!["[a-zA-Z][a-zA-Z0-9_$]{0,6}", "[%$_][a-zA-Z0-9_$]{1,6}"]
}

fn text() -> impl Strategy<Value = String> {
    "[ -!#-\\[\\]-~ü]{0,12}"
}

fn ty() -> impl Strategy<Value = Type> {
    let names = "b8 b16 b32 b64 b128 u8 s16 u32 s64 f16 f16x2 bf16 bf16x2 f32 f64 pred texref";
    prop::sample::select(names.split(' ').map(|name| Type::from_name(name).expect(name)).collect::<Vec<_>>())
}

fn space() -> impl Strategy<Value = Space> {
    let names = "const global local param shared tex";
    prop::sample::select(names.split(' ').map(|name| Space::from_name(name).expect(name)).collect::<Vec<_>>())
}

fn immediate() -> impl Strategy<Value = Immediate> {
    prop_oneof![
        any::<i64>().prop_map(|value| Immediate::Int(value.into())),
        any::<u64>().prop_map(|value| Immediate::Int(value.into())),
        any::<u32>().prop_map(Immediate::F32),
        any::<u64>().prop_map(Immediate::F64),
    ]
}

fn initializer() -> impl Strategy<Value = Initializer> {
    let leaf = prop_oneof![
        immediate().prop_map(|value| match value {
            Immediate::Int(value) => Initializer::Int(value),
            float => Initializer::Float(float),
        }),
        (name(), any::<i64>(), any::<bool>()).prop_map(|(name, offset, generic)| Initializer::Symbol {
            name,
            offset,
            generic
        }),
        Just(Initializer::Other("0xFF00(table+4)".to_owned())),
        Just(Initializer::Other("filter_mode = nearest".to_owned())),
    ];
    leaf.prop_recursive(3, 12, 4, |inner| vec(inner, 0..4).prop_map(Initializer::List))
}

fn variable(linkage: impl Strategy<Value = Linkage>) -> impl Strategy<Value = Variable> {
    let ptr = (option::of(space()), option::of(any::<u32>())).prop_map(|(space, align)| PtrAttribute { space, align });
    let attribute = prop::sample::select(vec!["managed".to_owned(), "unified(1, -2)".to_owned()]);
    let vector = prop::sample::select(vec![1, 2, 4, 8]);
    let front = (linkage, space(), option::of(any::<u32>()), vector, ty());
    let back =
        (name(), vec(option::of(any::<u64>()), 0..3), option::of(initializer()), option::of(ptr), vec(attribute, 0..3));
    (front, back).prop_map(|((linkage, space, align, vector, ty), (name, dims, init, ptr, attributes))| Variable {
        span: Span::default(),
        linkage,
        space,
        align,
        vector,
        ty,
        name,
        dims,
        init,
        ptr,
        attributes,
    })
}

fn operand() -> impl Strategy<Value = Operand> {
    let leaf = prop_oneof![
        name().prop_map(Operand::Name),
        Just(Operand::Name("%tid.x".to_owned())),
        Just(Operand::Name("%r1.b0".to_owned())),
        Just(Operand::Name("_".to_owned())),
        name().prop_map(Operand::NotPred),
        immediate().prop_map(Operand::Immediate),
        (option::of(name()), any::<i64>()).prop_map(|(base, offset)| Operand::Address { base, offset }),
        (name(), any::<i64>()).prop_map(|(name, offset)| Operand::NameOffset { name, offset }),
        name().prop_map(|name| Operand::Component(name, 'y')),
    ];
    leaf.prop_recursive(3, 16, 4, |inner| {
        let name = || name().prop_map(Operand::Name);
        prop_oneof![
            vec(inner.clone(), 0..4).prop_map(Operand::Vector),
            vec(inner.clone(), 0..4).prop_map(Operand::List),
            (name(), name()).prop_map(|(a, b)| Operand::Pair(Box::new(a), Box::new(b))),
            (vec(name(), 1..3), vec(inner, 0..4))
                .prop_map(|(handles, coordinates)| Operand::Texture { handles, coordinates }),
        ]
    })
}

fn instruction() -> impl Strategy<Value = Instruction> {
    let guard = (name(), any::<bool>()).prop_map(|(register, negated)| Guard { register, negated });
    let modifier = "[a-zA-Z0-9_]{1,5}(::[a-zA-Z0-9_]{1,4}){0,2}";
    (option::of(guard), "[a-z][a-z0-9]{0,5}", vec(modifier, 0..4), vec(operand(), 0..5)).prop_map(
        |(guard, opcode, modifiers, operands)| {
            // Only a call has argument lists.
            let lists = format!("{operands:?}").contains("List(");
            let opcode = if lists { "call".to_owned() } else { opcode };
            Instruction { span: Span::default(), guard, opcode, modifiers, operands }
        },
    )
}

fn loc() -> impl Strategy<Value = Loc> {
    let inlined = (name(), any::<i64>(), any::<u32>(), any::<u32>(), any::<u32>()).prop_map(
        |(function, function_offset, file, line, column)| InlinedAt { function, function_offset, file, line, column },
    );
    (any::<u32>(), any::<u32>(), any::<u32>(), option::of(inlined)).prop_map(|(file, line, column, inlined_at)| Loc {
        file,
        line,
        column,
        inlined_at,
    })
}

fn statement() -> impl Strategy<Value = Statement> {
    let span = Span::default();
    let param = || variable(Just(Linkage::Internal));
    let leaf = prop_oneof![
        4 => instruction().prop_map(Statement::Instruction),
        1 => name().prop_map(move |name| Statement::Label(span, name)),
        1 => (prop::sample::select(vec![1, 2, 4]), ty(), vec((name(), option::of(any::<u32>())), 1..3))
            .prop_map(move |(vector, ty, names)| Statement::Reg(RegDecl { span, vector, ty, names })),
        1 => variable(prop::sample::select(vec![Linkage::Internal, Linkage::Extern])).prop_map(Statement::Variable),
        1 => loc().prop_map(Statement::Loc),
        1 => vec(text(), 1..3).prop_map(move |strings| Statement::Pragma(span, strings)),
        1 => (name(), vec(name(), 1..4))
            .prop_map(move |(name, targets)| Statement::BranchTargets { span, name, targets }),
        1 => (name(), vec(name(), 1..4))
            .prop_map(move |(name, targets)| Statement::CallTargets { span, name, targets }),
        1 => (name(), vec(param(), 0..2), vec(param(), 0..3))
            .prop_map(move |(name, returns, params)| Statement::CallPrototype { span, name, returns, params }),
    ];
    leaf.prop_recursive(3, 16, 5, |inner| vec(inner, 0..5).prop_map(Statement::Block))
}

fn function() -> impl Strategy<Value = Function> {
    let linkage = prop::sample::select(vec![Linkage::Internal, Linkage::Visible, Linkage::Extern, Linkage::Weak]);
    let param = || variable(Just(Linkage::Internal));
    let word =
        prop::sample::select(vec!["maxntid".to_owned(), "minnctapersm".to_owned(), "explicitcluster".to_owned()]);
    let front = (linkage, any::<bool>(), name(), vec(param(), 0..2), vec(param(), 0..3), any::<bool>());
    (front, vec((word, vec(any::<u32>(), 0..4)), 0..3), option::of(vec(statement(), 0..6))).prop_map(
        |((linkage, entry, name, returns, params, noreturn), directives, body)| Function {
            span: Span::default(),
            linkage,
            kind: if entry { FunctionKind::Entry } else { FunctionKind::Func },
            name,
            returns: if entry { Vec::new() } else { returns },
            params,
            noreturn,
            attributes: Vec::new(),
            directives,
            body,
        },
    )
}

fn item() -> impl Strategy<Value = Item> {
    let span = Span::default();
    let linkage = prop::sample::select(vec![Linkage::Internal, Linkage::Visible, Linkage::Common]);
    prop_oneof![
        variable(linkage).prop_map(Item::Variable),
        function().prop_map(Item::Function),
        (name(), name()).prop_map(move |(name, target)| Item::Alias { span, name, target }),
        vec(text(), 1..3).prop_map(move |strings| Item::Pragma(span, strings)),
        Just(Item::Section(span, ".section .debug_str\n{\n$L__info_string0:\n.b8 95,0 // x\n}".to_owned())),
    ]
}

fn module() -> impl Strategy<Value = Module> {
    let file = (any::<u32>(), text()).prop_map(|(index, path)| SourceFile { index, path });
    let target = vec(name(), 1..3);
    (any::<(u32, u32)>(), target, any::<u32>(), vec(file, 0..2), vec(item(), 0..4)).prop_map(
        |(version, target, address_size, files, items)| Module { version, target, address_size, files, items },
    )
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 400, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn printed_modules_read_the_same(module in module()) {
        let printed = module.to_string();
        match ptx::parse(&printed) {
            Ok(again) => prop_assert_eq!(again.without_spans(), module, "{}", printed),
            Err(error) => prop_assert!(false, "{error}\n{printed}"),
        }
    }
}
