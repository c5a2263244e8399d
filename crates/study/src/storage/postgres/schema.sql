-- The tables of Optuna's RDBStorage, version 12 (alembic v3.2.0.a), as it makes them itself.
CREATE TYPE studydirection AS ENUM ('NOT_SET', 'MINIMIZE', 'MAXIMIZE');
CREATE TYPE trialstate AS ENUM ('RUNNING', 'COMPLETE', 'PRUNED', 'FAIL', 'WAITING');
CREATE TYPE trialvaluetype AS ENUM ('FINITE', 'INF_POS', 'INF_NEG');
CREATE TYPE trialintermediatevaluetype AS ENUM ('FINITE', 'INF_POS', 'INF_NEG', 'NAN');

CREATE TABLE studies (
    study_id serial PRIMARY KEY,
    study_name varchar(512) NOT NULL
);
CREATE UNIQUE INDEX ix_studies_study_name ON studies (study_name);
CREATE TABLE study_directions (
    study_direction_id serial PRIMARY KEY,
    direction studydirection NOT NULL,
    study_id integer NOT NULL REFERENCES studies,
    objective integer NOT NULL,
    UNIQUE (study_id, objective)
);
CREATE TABLE study_user_attributes (
    study_user_attribute_id serial PRIMARY KEY,
    study_id integer REFERENCES studies,
    key varchar(512),
    value_json text,
    UNIQUE (study_id, key)
);
CREATE TABLE study_system_attributes (
    study_system_attribute_id serial PRIMARY KEY,
    study_id integer REFERENCES studies,
    key varchar(512),
    value_json text,
    UNIQUE (study_id, key)
);

CREATE TABLE trials (
    trial_id serial PRIMARY KEY,
    number integer,
    study_id integer REFERENCES studies,
    state trialstate NOT NULL,
    datetime_start timestamp,
    datetime_complete timestamp
);
CREATE INDEX ix_trials_study_id ON trials (study_id);
CREATE TABLE trial_user_attributes (
    trial_user_attribute_id serial PRIMARY KEY,
    trial_id integer REFERENCES trials,
    key varchar(512),
    value_json text,
    UNIQUE (trial_id, key)
);
CREATE TABLE trial_system_attributes (
    trial_system_attribute_id serial PRIMARY KEY,
    trial_id integer REFERENCES trials,
    key varchar(512),
    value_json text,
    UNIQUE (trial_id, key)
);
CREATE TABLE trial_params (
    param_id serial PRIMARY KEY,
    trial_id integer REFERENCES trials,
    param_name varchar(512),
    param_value double precision,
    distribution_json text,
    UNIQUE (trial_id, param_name)
);
CREATE TABLE trial_values (
    trial_value_id serial PRIMARY KEY,
    trial_id integer NOT NULL REFERENCES trials,
    objective integer NOT NULL,
    value double precision,
    value_type trialvaluetype NOT NULL,
    UNIQUE (trial_id, objective)
);
CREATE TABLE trial_intermediate_values (
    trial_intermediate_value_id serial PRIMARY KEY,
    trial_id integer NOT NULL REFERENCES trials,
    step integer NOT NULL,
    intermediate_value double precision,
    intermediate_value_type trialintermediatevaluetype NOT NULL,
    UNIQUE (trial_id, step)
);
CREATE TABLE trial_heartbeats (
    trial_heartbeat_id serial PRIMARY KEY,
    trial_id integer NOT NULL UNIQUE REFERENCES trials,
    heartbeat timestamp NOT NULL
);

CREATE TABLE version_info (
    version_info_id integer PRIMARY KEY CHECK (version_info_id = 1),
    schema_version integer,
    library_version varchar(256)
);
INSERT INTO version_info VALUES (1, 12, '5.0.0');
CREATE TABLE alembic_version (
    version_num varchar(32) NOT NULL,
    CONSTRAINT alembic_version_pkc PRIMARY KEY (version_num)
);
INSERT INTO alembic_version VALUES ('v3.2.0.a');
