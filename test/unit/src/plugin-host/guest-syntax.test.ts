import { runInNewContext } from 'node:vm';
import { stop, transform } from 'esbuild';
import t from 'tap';
import { GUEST_SYNTAX } from '../../../../src/plugin-host/guest-syntax.ts';

t.teardown(() => stop());

t.test('code becomes a script that any V8 of the guest reads, without a word about its style', async (t) => {
  const text = `
    declare const said: unknown[];
    const held = { [Symbol.dispose]: () => said.push('é') };
    { using one = held; said.push(typeof one, typeof NaN === NaN); }
    export {};`;
  const { code, warnings } = await transform(text, { ...GUEST_SYNTAX, loader: 'ts' });
  t.strictSame(warnings, []);
  t.match(code, "'é'".replaceAll("'", '"'));
  t.notMatch(code, /\busing\b/);
  const said: unknown[] = [];
  runInNewContext(code, { said });
  t.strictSame(said, ['object', false, 'é']);
});
