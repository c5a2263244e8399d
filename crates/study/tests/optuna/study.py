"""What Optuna makes of a study that was written here; the tests of the storages run it.

study.py show STORAGE             the whole study as JSON
study.py go_on STORAGE N          runs N more trials, then shows the study
study.py enqueue STORAGE PARAMS   leaves a trial with these parameters to be run, then shows the study
study.py leave STORAGE            begins a trial and dies in it
study.py worker STORAGE N SECONDS runs N trials with heartbeats, each so long
study.py dashboard STORAGE        what optuna-dashboard's server answers to /api/studies; null without it
"""

import json
import os
import sys
import time

import optuna
from optuna.storages import JournalStorage, RDBStorage
from optuna.storages.journal import JournalFileBackend

optuna.logging.set_verbosity(optuna.logging.ERROR)


def storage(place, **options):
    if "://" not in place:
        return JournalStorage(JournalFileBackend(place))
    place = place.split("?")[0].replace("postgresql://", "postgresql+psycopg2://")
    return RDBStorage(place, **options)


def study(place, **options):
    kept = storage(place, **options)
    return optuna.load_study(study_name=optuna.get_all_study_names(kept)[0], storage=kept)


def suggest(trial):
    kind = trial.suggest_categorical("kind", ["a b", "[1,16]", None, 2.5])
    steps = trial.suggest_int("steps", -4, 20, step=4) if kind in ("a b", "[1,16]") else 0
    width = trial.suggest_int("width", 1, 64, log=True)
    rate = trial.suggest_float("rate", 1e-5, 1.0, log=True)
    if kind is None:
        trial.suggest_float('"quoted" é', -1.0, 1.0)
    return steps, width, rate


def objective(trial):
    steps, width, rate = suggest(trial)
    trial.set_user_attr("where", "python")
    if trial.number % 5 == 3:
        raise optuna.TrialPruned()
    return steps + rate, float("inf") if trial.number % 5 == 4 else float(width)


def show(study):
    return {
        "directions": [direction.name for direction in study.directions],
        "metric_names": study.metric_names,
        "facts": study.user_attrs["mase"],
        "best": sorted(trial.number for trial in study.best_trials),
        "trials": [
            {
                "number": trial.number,
                "state": trial.state.name,
                "values": [repr(value) for value in trial.values or []],
                "params": trial.params,
                "user_attrs": trial.user_attrs,
                "constraints": list(trial.constraints.values()),
            }
            for trial in study.trials
        ],
    }


def dashboard(place):
    try:
        from optuna_dashboard import wsgi
    except ImportError:
        return None
    import threading
    import urllib.request
    from wsgiref.simple_server import WSGIRequestHandler, make_server

    class Quiet(WSGIRequestHandler):
        def log_message(self, *_):
            pass

    server = make_server("127.0.0.1", 0, wsgi(storage(place)), handler_class=Quiet)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    with urllib.request.urlopen(f"http://127.0.0.1:{server.server_port}/api/studies") as answer:
        return json.load(answer)


def main():
    action, place, *rest = sys.argv[1:]
    if action == "dashboard":
        return dashboard(place)
    if action == "leave":
        options = {"heartbeat_interval": 1} if "://" in place else {}
        left = study(place, **options)

        def die(trial):
            suggest(trial)
            print("null", flush=True)
            os._exit(0)

        left.optimize(die, n_trials=1)
    options = {"heartbeat_interval": 1, "grace_period": 60} if action == "worker" else {}
    ours = study(place, **options)
    if action == "enqueue":
        ours.enqueue_trial(json.loads(rest[0]))
    if action == "go_on":
        ours.optimize(objective, n_trials=int(rest[0]))
    if action == "worker":
        pause = float(rest[1])
        ours.optimize(lambda trial: (time.sleep(pause), objective(trial))[1], n_trials=int(rest[0]))
    return show(ours)


print(json.dumps(main()))
