-- What waits longest: a time that is too far off to be meant was set while a clock was ahead.
CREATE INDEX work_waits ON work (ready_at);
