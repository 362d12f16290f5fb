"""Configs, variables, keys and the rest, at a real engine."""
import logging
import os
import tempfile
import unittest
from unittest import mock

from support import engine
import troupe

ORGANIZATION = "org-00000000-0000-4000-8000-000000000009"


class Engine(unittest.TestCase):
    def setUp(self):
        self.t = troupe.Troupe(engine().url)
        self.addCleanup(self.t.close)

    def test_variables_of_a_config_reach_its_runs(self):
        variables = self.t.variables("local")
        variables.set("SDK_WORD", "secret-word", description="for a test")
        self.addCleanup(variables.delete, "SDK_WORD")
        self.assertEqual(self.t.run(command="echo $SDK_WORD").stdout,
                         "secret-word\n")
        variables.update("SDK_WORD", name="SDK_NAME", description="renamed")
        self.addCleanup(variables.delete, "SDK_NAME")
        listed = variables.list()
        self.assertEqual([one.key for one in listed], ["SDK_NAME"])
        self.assertNotIn("secret-word", repr(listed))

    def test_variables_of_an_agent_are_for_its_runs_alone(self):
        variables = self.t.agent_variables("agent-00000000-0000-4000-8000-000000000001")
        variables.set(SDK_A="1", SDK_B="2")
        variables.delete("SDK_B")
        self.assertEqual([one.key for one in variables.list()], ["SDK_A"])
        command = "echo $SDK_A"
        self.assertEqual(self.t.run(command=command).stdout, "\n")
        self.assertEqual(self.t.run(
            command=command,
            agent_id="agent-00000000-0000-4000-8000-000000000001").stdout, "1\n")
        variables.replace({})

    def test_configs_change_with_their_revision(self):
        config = self.t.configs.default("local")
        changed = self.t.configs.update(config.id, {"use_venv": False},
                                        revision=config.revision)
        self.assertEqual(changed.type, "local")
        self.assertIn(config.id, [one.id for one in self.t.configs.list()])
        self.assertEqual(self.t.configs.get(config.id).id, config.id)
        other = self.t.configs.put("daytona", {})
        self.t.configs.delete(other.id)
        with self.assertRaises(troupe.NotFound):
            self.t.configs.get(other.id)

    def test_packages_are_checked_before_they_are_installed(self):
        sets = self.t.package_sets
        with self.assertRaises(troupe.Invalid):
            sets.build(pip=["--index-url=http://127.0.0.1"])
        for ask in (sets.get, sets.delete, lambda name: list(sets.events(name))):
            with self.assertRaises(troupe.NotFound):
                ask("0" * 64)

    def test_operators_look_after_the_engine(self):
        with troupe.Troupe(engine().operator) as operator, \
                tempfile.TemporaryDirectory() as directory:
            backup = operator.maintenance.back_up(directory + "/backup")
            self.assertGreater(backup.files, 0)
            change = operator.maintenance.rotate_master_key()
            self.assertNotEqual(change.old_key_id, change.new_key_id)
            new = operator.keys.create("other", ["run"],
                                       organization_id=ORGANIZATION)
            self.assertIn(ORGANIZATION,
                          [one.id for one in operator.organizations.list()])
            with troupe.Troupe(engine().url, api_key=new.key) as keyed:
                for refused in (keyed.maintenance.drain,
                                lambda: keyed.organizations.delete(ORGANIZATION)):
                    with self.assertRaises(troupe.Forbidden):
                        refused()
            operator.organizations.delete(ORGANIZATION)

    def test_the_engine_tells_of_itself(self):
        self.assertEqual([b.name for b in self.t.backends.list() if b.ready],
                         ["local"])
        self.assertTrue(self.t.organizations.self().can_run)
        self.t.run("1")
        self.assertEqual(self.t.audit.last(1)[0].details["event"], "run")
        self.assertGreaterEqual(len(self.t.audit.list(limit=2).page().items), 1)
        self.assertEqual(self.t.package_sets.list().all(), [])

    def test_a_key_is_shown_once_and_in_no_text(self):
        operator = troupe.Troupe(engine().operator)
        self.addCleanup(operator.close)
        new = operator.keys.create("ci", ["run"], expires_in_days=1)
        self.assertNotIn(new.key, repr(new))
        keyed = troupe.Troupe(engine().url, api_key=new.key)
        self.addCleanup(keyed.close)
        with self.assertLogs("troupe", logging.DEBUG) as logged:
            self.assertEqual(keyed.organizations.self().key_id, new.id)
            with self.assertRaises(troupe.Forbidden) as caught:
                keyed.keys.list().all()
        for text in (str(caught.exception), repr(keyed), *logged.output,
                     repr(vars(keyed)["_http"].server), engine().log_text()):
            self.assertNotIn(new.key, text)
        operator.keys.delete(new.id)
        with self.assertRaises(troupe.Unauthorized):
            keyed.organizations.self()

    def test_the_environment_says_where_the_engine_is(self):
        with tempfile.NamedTemporaryFile("w") as file:
            file.write("wrong-key\n")
            file.flush()
            with mock.patch.dict(os.environ, TROUPE_SERVER=engine().url,
                                 TROUPE_API_KEY_FILE=file.name):
                with troupe.Troupe() as client:
                    with self.assertRaises(troupe.Unauthorized):
                        client.run("1")

    def test_a_key_does_not_belong_into_an_address(self):
        for url in ("http://user:key@127.0.0.1", "http://127.0.0.1/?key=x",
                    "ftp://127.0.0.1"):
            with self.assertRaises(ValueError):
                troupe.Troupe(url)

    def test_an_engine_that_is_not_there_is_said_so(self):
        with self.assertRaises(troupe.ConnectError) as caught:
            troupe.Troupe("http://127.0.0.1:1", max_retries=0).run("1")
        self.assertIn("TROUPE_SERVER", str(caught.exception))


if __name__ == "__main__":
    unittest.main()
