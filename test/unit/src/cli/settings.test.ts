import t from 'tap';
import { configurationOf, environmentOf } from '../../../../src/cli/settings.ts';

const io = { say() {}, complain() {}, now: () => new Date() };

t.test('the environment comes from the process and .env', async (t) => {
  const cwd = t.testdir({ '.env': 'DATA_DIR=./elsewhere\nAPP_PORT=1\n' });
  t.match(await environmentOf({ ...io, cwd, env: { APP_PORT: '2' } }), { DATA_DIR: './elsewhere', APP_PORT: 2 });
  await t.rejects(environmentOf({ ...io, cwd, env: { APP_PORT: 'x' } }), { name: 'ConfigurationError' });
});

t.test('the configuration is the one of a start', async (t) => {
  const cwd = t.testdir({ config: { 'config.json': '{"relayers":[],"signers":[],"notifications":[],"plugins":[]}' } });
  t.match(await configurationOf({ ...io, cwd, env: {} }), { relayers: [], environment: { APP_PORT: 8080 } });
  await t.rejects(configurationOf({ ...io, cwd, env: { CONFIG_FILE_NAME: 'no.json' } }), /no such file/);
});
