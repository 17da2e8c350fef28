use super::*;

#[test]
fn jobs_run_in_order() {
    let queue = Queue::new();
    let seen = Arc::new(Mutex::new(Vec::new()));
    for i in 0..100 {
        let seen = Arc::clone(&seen);
        let thread = if i % 3 == 0 { JobThread::Caller } else { JobThread::Worker };
        let push = move || lock(&seen).push(i);
        queue.submit(thread, true, |_| {}, Box::new(push));
    }
    queue.drain().expect("not the worker");
    queue.close();
    assert_eq!(*seen.lock().expect("no panic"), (0..100).collect::<Vec<_>>());
}

#[test]
fn a_panic_does_not_stop_the_queue() {
    let queue = Queue::new();
    queue.submit(JobThread::Worker, true, |_| {}, Box::new(|| panic!("planted")));
    let ticket = queue.submit(JobThread::Worker, true, |_| {}, Box::new(|| {}));
    assert_eq!(queue.wait(ticket), Ok(()));
    queue.close();
}

#[test]
fn a_job_cannot_wait_for_itself() {
    let queue = Queue::new();
    let (send, receive) = std::sync::mpsc::channel();
    let inner = Arc::clone(&queue);
    let job = move || send.send(inner.drain()).expect("somebody listens");
    queue.submit(JobThread::Worker, true, |_| {}, Box::new(job));
    assert_eq!(receive.recv(), Ok(Err(ERROR_NOT_PERMITTED)));
    queue.close();
}
