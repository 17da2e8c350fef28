//! Which plan a product gets: the one of which the least time is expected.

use std::collections::BTreeMap;

use harness::Shape;
use serde::{Deserialize, Serialize};

use crate::costs::{CostInput, CostTerms, expected, terms};
use crate::gemm::Form;
use crate::plans::{PLANS, Plan, Sharing, Source};

#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Choice {
    /// Index in [`PLANS`]; behind them, what was added to a [`Sgemm`](crate::gemm::Sgemm).
    pub plan: usize,
    pub sharing: Sharing,
    /// A and B are copied first to where the plan can read them.
    pub packed: [bool; 2],
    pub expected: f64,
}

impl Choice {
    pub fn work(&self, shape: Shape) -> CostInput {
        let Shape { m, n, k } = shape;
        CostInput { shape: [m, n, k], sharing: self.sharing, packed: self.packed }
    }
}

/// The constants of a plan: where C is stored four floats at a time, and where float by float.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
pub struct PlanCosts {
    /// N is a multiple of 4.
    pub float4s: CostTerms,
    pub floats: CostTerms,
}

/// Measurements (`cargo xtask tune v11`) by which plans are chosen.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Costs {
    pub device: String,
    pub driver: String,
    pub date: String,
    pub products: usize,
    pub seed: u64,
    pub plans: BTreeMap<String, PlanCosts>,
}

impl Costs {
    pub fn committed() -> Self {
        serde_json::from_str(include_str!("../../data/costs.json")).expect("a test reads it")
    }

    /// The plan for a product whose operands can be used so.
    // ANCHOR: choose
    pub fn choose(&self, shape: Shape, forms: [Form; 2], n_sms: usize) -> Choice {
        let mut best: Option<Choice> = None;
        for choice in self.choices(shape, forms, n_sms) {
            if best.is_none_or(|best| choice.expected < best.expected) {
                best = Some(choice);
            }
        }
        best.expect("boxes of packed operands can multiply everything")
    }
    // ANCHOR_END: choose

    pub fn choices(&self, shape: Shape, forms: [Form; 2], n_sms: usize) -> Vec<Choice> {
        let mut found = Vec::new();
        for (i, plan) in PLANS.iter().enumerate() {
            let (Some(packed), Some(costs)) = (packed(plan, shape, forms), self.plans.get(plan.entry)) else {
                continue;
            };
            for sharing in Sharing::ALL {
                let mut choice = Choice { plan: i, sharing, packed, expected: 0.0 };
                let work = choice.work(shape);
                if let Some(terms) = terms(plan, &work, n_sms) {
                    let constants = if work.stores_floats() { &costs.floats } else { &costs.float4s };
                    choice.expected = expected(constants, &terms);
                    found.push(choice);
                }
            }
        }
        found
    }
}

/// Returns which operands have to be packed for a plan; `None` where it cannot do the product.
pub fn packed(plan: &Plan, shape: Shape, forms: [Form; 2]) -> Option<[bool; 2]> {
    const MAX_BLOCKS: usize = 65_535;
    match plan.source {
        Source::Boxes => Some(forms.map(|form| form != Form::Aligned)),
        // A packed copy would have rows on 16 bytes, and boxes are better then.
        Source::Words | Source::Threads if forms.contains(&Form::Transposed) => None,
        Source::Threads if shape.m.div_ceil(plan.tile[0] as usize) > MAX_BLOCKS => None,
        Source::Threads if forms != [Form::Aligned; 2] => None,
        Source::Words | Source::Threads => Some([false; 2]),
    }
}
