use super::*;

#[test]
fn the_predicted_order_of_the_plans_in_use_is_nearly_the_measured_one() {
    let (plans, timed, forecasts) = (plans(), Costs::committed(), forecast::read(COMMITTED));
    let agreement = Agreement::measure(&known(&plans, &forecasts), &timed);
    assert_eq!((agreement.plans, agreement.products), (PLANS.len(), 128));
    assert!(agreement.rank_correlation > 0.9, "{agreement}");
    assert!(agreement.lost[0] < 0.02, "{agreement}");
}

#[test]
fn the_order_depends_on_nothing_but_the_forecasts() {
    let (timed, forecasts) = (Costs::committed(), forecast::read(COMMITTED));
    let (plans, mut turned) = (plans(), plans());
    turned.reverse();
    assert_eq!(table(&known(&plans, &forecasts), &timed), table(&known(&turned, &forecasts), &timed));
}
