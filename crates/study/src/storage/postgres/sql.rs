//! The statements that workers send, each a whole step of its own.

/// Makes a function for this connection that begins trial `wanted` if that is the next number, so that a claim is one
/// message and the lock is held no longer than it takes. The lock is that of Optuna's own workers: the study's row.
///
/// It gives the id of the trial, if it is this worker's, and the next number, -1 if the study is gone. Numbers are given
/// out in the order of the ids, so the last id has the last number. A claim that may have been made before a connection
/// was lost is looked for.
pub(super) const MAKE_CLAIM: &str = "CREATE OR REPLACE FUNCTION pg_temp.mase_next(study int) RETURNS int LANGUAGE sql AS \
    $$ SELECT coalesce((SELECT number + 1 FROM trials WHERE study_id = study ORDER BY trial_id DESC LIMIT 1), 0) $$; \
    CREATE OR REPLACE FUNCTION pg_temp.mase_claim(study int, wanted int, names text[], chosen float8[], kinds text[], \
        worker text, is_again bool, OUT trial int, OUT following int) LANGUAGE plpgsql AS $$ BEGIN \
    following := pg_temp.mase_next(study); \
    IF following > wanted AND NOT is_again THEN RETURN; END IF; \
    PERFORM 1 FROM studies WHERE study_id = study FOR UPDATE; \
    IF NOT FOUND THEN following := -1; RETURN; END IF; \
    following := pg_temp.mase_next(study); \
    IF following > wanted AND is_again THEN \
        SELECT t.trial_id INTO trial FROM trials t JOIN trial_system_attributes a USING (trial_id) \
        WHERE t.study_id = study AND t.number = wanted AND a.key = 'mase:worker' AND a.value_json = worker; \
    END IF; \
    IF following <> wanted THEN RETURN; END IF; \
    INSERT INTO trials (number, study_id, state, datetime_start) \
        VALUES (wanted, study, 'RUNNING', clock_timestamp()::timestamp) RETURNING trial_id INTO trial; \
    INSERT INTO trial_params (trial_id, param_name, param_value, distribution_json) \
        SELECT trial, x.* FROM unnest(names, chosen, kinds) AS x; \
    INSERT INTO trial_heartbeats (trial_id, heartbeat) VALUES (trial, clock_timestamp()::timestamp); \
    INSERT INTO trial_system_attributes (trial_id, key, value_json) VALUES (trial, 'mase:worker', worker); \
    END $$";

/// Study, number, names, values and distributions of the parameters, worker, whether it was tried before.
pub(super) const CLAIM: &str =
    "SELECT trial, following FROM pg_temp.mase_claim($1, $2, $3, $4, $5, $6, $7)";

/// Ends trial $1, unless it has ended: state, seconds of begin and end, values with their types, attributes for users
/// and for Optuna.
pub(super) const FINISH: &str = "WITH t AS (UPDATE trials SET state = $2::text::trialstate, \
        datetime_start = to_timestamp($3::float8)::timestamp, datetime_complete = to_timestamp($4::float8)::timestamp \
        WHERE trial_id = $1 AND state = 'RUNNING' RETURNING trial_id), \
    v AS (INSERT INTO trial_values (trial_id, objective, value, value_type) \
        SELECT t.trial_id, x.place - 1, x.value, x.kind::trialvaluetype \
        FROM t, unnest($5::float8[], $6::text[]) WITH ORDINALITY AS x (value, kind, place)), \
    a AS (INSERT INTO trial_user_attributes (trial_id, key, value_json) \
        SELECT t.trial_id, x.* FROM t, unnest($7::text[], $8::text[]) AS x), \
    s AS (INSERT INTO trial_system_attributes (trial_id, key, value_json) \
        SELECT t.trial_id, x.* FROM t, unnest($9::text[], $10::text[]) AS x) \
    SELECT count(*) FROM t";

/// The trials of study $1 behind id $2, and those of the ids $3 that have ended.
pub(super) const ENDED: &str = "SELECT trial_id, number, state::text, \
        extract(epoch FROM datetime_start::timestamptz)::float8, \
        extract(epoch FROM datetime_complete::timestamptz)::float8 \
    FROM trials WHERE (study_id = $1 AND trial_id > $2) \
    UNION ALL SELECT trial_id, number, state::text, \
        extract(epoch FROM datetime_start::timestamptz)::float8, \
        extract(epoch FROM datetime_complete::timestamptz)::float8 \
    FROM trials WHERE trial_id = ANY($3) AND state IN ('COMPLETE', 'PRUNED', 'FAIL') ORDER BY 1";

/// Of the trials $1: all that was chosen, scored and noted.
pub(super) const PARAMETERS: &str = "SELECT trial_id, param_name, param_value, distribution_json FROM trial_params \
    WHERE trial_id = ANY($1) ORDER BY param_id";
pub(super) const VALUES: &str = "SELECT trial_id, value, value_type::text FROM trial_values \
    WHERE trial_id = ANY($1) ORDER BY trial_id, objective";
pub(super) const ATTRIBUTES: &str = "SELECT trial_id, key, value_json, true FROM trial_user_attributes \
    WHERE trial_id = ANY($1) UNION ALL \
    SELECT trial_id, key, value_json, false FROM trial_system_attributes WHERE trial_id = ANY($1)";

/// Trials of study $1 whose workers were silent for $2 seconds, and whether a worker of ours began them.
pub(super) const STALE: &str = "SELECT t.trial_id, t.number, EXISTS (SELECT 1 FROM trial_system_attributes a \
        WHERE a.trial_id = t.trial_id AND a.key = 'mase:worker') \
    FROM trials t JOIN trial_heartbeats h USING (trial_id) WHERE t.study_id = $1 AND t.state = 'RUNNING' \
        AND h.heartbeat < clock_timestamp()::timestamp - make_interval(secs => $2::float8)";

/// Takes trial $1 over if its worker has been silent for $2 seconds; the second who tries finds it fresh.
pub(super) const TAKE_OVER: &str = "UPDATE trial_heartbeats h SET heartbeat = clock_timestamp()::timestamp \
    FROM trials t WHERE h.trial_id = $1 AND t.trial_id = h.trial_id AND t.state = 'RUNNING' \
        AND h.heartbeat < clock_timestamp()::timestamp - make_interval(secs => $2::float8)";

/// A trial that another program has left behind has failed, as Optuna itself would say.
pub(super) const WRITE_OFF: &str = "UPDATE trials SET state = 'FAIL', datetime_complete = clock_timestamp()::timestamp \
    WHERE trial_id = $1 AND state = 'RUNNING'";

/// The trials $1 are still being run.
pub(super) const BEAT: &str =
    "UPDATE trial_heartbeats SET heartbeat = clock_timestamp()::timestamp WHERE trial_id = ANY($1)";

/// Locks trial $2 of study $1 if it waits to be run, or was begun by worker $3 before a connection was lost.
pub(super) const WAITING: &str = "SELECT t.trial_id FROM trials t WHERE t.study_id = $1 AND t.number = $2 \
    AND (t.state = 'WAITING' OR t.state = 'RUNNING' AND EXISTS (SELECT 1 FROM trial_system_attributes a \
        WHERE a.trial_id = t.trial_id AND a.key = 'mase:worker' AND a.value_json = $3)) FOR UPDATE";

/// The values that whoever enqueued trial $1 has fixed.
pub(super) const FIXED: &str =
    "SELECT value_json FROM trial_system_attributes WHERE trial_id = $1 AND key = 'fixed_params'";

/// Begins trial $1, which waits: names, values and distributions of the parameters, worker.
pub(super) const BEGIN: &str = "WITH t AS (UPDATE trials SET state = 'RUNNING', \
        datetime_start = clock_timestamp()::timestamp WHERE trial_id = $1 RETURNING trial_id), \
    p AS (INSERT INTO trial_params (trial_id, param_name, param_value, distribution_json) \
        SELECT t.trial_id, x.* FROM t, unnest($2::text[], $3::float8[], $4::text[]) AS x ON CONFLICT DO NOTHING), \
    h AS (INSERT INTO trial_heartbeats (trial_id, heartbeat) \
        SELECT trial_id, clock_timestamp()::timestamp FROM t ON CONFLICT DO NOTHING) \
    INSERT INTO trial_system_attributes (trial_id, key, value_json) SELECT trial_id, 'mase:worker', $5 FROM t \
    ON CONFLICT DO NOTHING";

/// Fails trial $1, which waits, with a note $3 under the key $2.
pub(super) const REFUSE: &str = "WITH t AS (UPDATE trials SET state = 'FAIL', \
        datetime_start = clock_timestamp()::timestamp, datetime_complete = clock_timestamp()::timestamp \
        WHERE trial_id = $1 RETURNING trial_id) \
    INSERT INTO trial_user_attributes (trial_id, key, value_json) SELECT trial_id, $2, $3 FROM t \
    ON CONFLICT DO NOTHING";

/// Ends a question that is asked while others wait, should it have to wait itself.
pub(super) const BOUND: &str = "SET statement_timeout = 5000";

/// The first process that one of the processes $1 waits for: its number, its program, its host, the seconds of its
/// transaction.
pub(super) const BLOCKER: &str = "SELECT b.pid, b.application_name, host(b.client_addr), \
        extract(epoch FROM clock_timestamp() - b.xact_start)::float8 \
    FROM unnest($1::int[]) AS w (pid) CROSS JOIN LATERAL unnest(pg_blocking_pids(w.pid)) AS p (pid) \
        JOIN pg_stat_activity b ON b.pid = p.pid ORDER BY b.xact_start LIMIT 1";

/// The process that holds the lock under which tables and studies are made, in the columns of [`BLOCKER`].
pub(super) const LOCK_HOLDER: &str = "SELECT b.pid, b.application_name, host(b.client_addr), \
        extract(epoch FROM clock_timestamp() - b.xact_start)::float8 \
    FROM pg_locks l JOIN pg_stat_activity b ON b.pid = l.pid JOIN pg_database d ON d.oid = l.database \
    WHERE l.locktype = 'advisory' AND l.classid = 0 AND l.objid = 7308604 AND l.granted \
        AND d.datname = current_database() LIMIT 1";

/// Of study $1 the trials $2 that have not ended: number, worker, seconds since they began and since their worker was
/// heard of.
pub(super) const HOLDERS: &str = "SELECT t.number, a.value_json, \
        extract(epoch FROM clock_timestamp()::timestamp - t.datetime_start)::float8, \
        extract(epoch FROM clock_timestamp()::timestamp - h.heartbeat)::float8 \
    FROM trials t LEFT JOIN trial_system_attributes a ON a.trial_id = t.trial_id AND a.key = 'mase:worker' \
        LEFT JOIN trial_heartbeats h ON h.trial_id = t.trial_id \
    WHERE t.study_id = $1 AND t.number = ANY($2) AND t.state IN ('RUNNING', 'WAITING') ORDER BY t.number";
