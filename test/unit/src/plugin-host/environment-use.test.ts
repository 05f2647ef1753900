import t from 'tap';
import { environmentReads } from '../../../../src/plugin-host/environment-use.ts';

t.test('names read from process.env are found, what libraries probe is not', async (t) => {
  const code = `process.env.B; process.env["A"]; process.env['B']; process.env.NODE_ENV; x.process.environment.C; process.env[n]`;
  t.same(environmentReads(code), ['A', 'B']);
  t.same(environmentReads('nothing'), []);
});
