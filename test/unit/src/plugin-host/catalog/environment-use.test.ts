import t from 'tap';
import { environmentReads } from '../../../../../src/plugin-host/catalog/environment-use.ts';
import { MAX_SHOWN } from '../../../../../src/plugin-host/catalog/network-use.ts';

t.test('names read from process.env are found, what libraries probe is not', async (t) => {
  const code = `process.env.B; process.env["A"]; process.env['B']; process.env.NODE_ENV; x.process.environment.C; process.env[n]`;
  t.same(environmentReads(code), ['A', 'B']);
  t.same(environmentReads('nothing'), []);
});

t.test('of very many names one more than is shown is found, and none that is no name', async (t) => {
  const code = Array.from({ length: 100_000 }, (_, index) => `process.env.N${index};`).join('');
  t.equal(environmentReads(code).length, MAX_SHOWN + 1);
  t.same(environmentReads(`process.env.${'x'.repeat(100_000)}; process.env['${'y'.repeat(300)}']; process.env.A`), [
    'A',
  ]);
});
