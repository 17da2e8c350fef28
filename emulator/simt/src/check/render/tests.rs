//! Messages for events made by hand.
