import { build } from 'esbuild';
import t from 'tap';
import { WITHOUT_WARNINGS } from '../../../../src/plugin-host/bundler-warnings.ts';

t.test('code that deserves warnings makes none', async (t) => {
  const contents = `console.log({ a: 1, a: 2 }, NaN === x, typeof x == 'no', -0 === x, {} === x, !x in y, eval('x'));
    switch (x) { case 1: case 1: } class A { b() {} b() {} } const c = this; delete super.x; return
    x;`.replace('delete super.x; return', 'function f() { return');
  const warned = async (logOverride = {}) => {
    const stdin = { contents: `${contents} } export { c, f, A };`, loader: 'js' as const };
    const { warnings } = await build({ stdin, bundle: true, write: false, logLevel: 'silent', logOverride });
    return warnings.map(({ id }) => id);
  };
  t.ok((await warned()).length > 5);
  t.same(await warned(WITHOUT_WARNINGS), []);
});
