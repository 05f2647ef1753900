import { runInNewContext } from 'node:vm';
import { type Loader, stop, transform } from 'esbuild';
import t from 'tap';
import { GUEST_SYNTAX, guestLoader, isCodeLoader, unknownKind } from '../../../../host/compiler/guest-syntax.ts';

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

t.test('a file is read as the longest known end of its name says', (t) => {
  const expected: [string, Loader | undefined][] = [
    ['/a.b/plain', 'js'],
    ['/a.js', 'js'],
    ['/.ts', 'ts'],
    ['/a/.tsx', 'tsx'],
    ['/a.json.mts', 'ts'],
    ['/a.module.css', 'local-css'],
    ['/a.module.b.css', 'css'],
    ['/a.json', 'json'],
    ['/a.txt', 'text'],
    ['/a.js.map', undefined],
    ['/a.', undefined],
    ['/x.css\\bar', undefined],
    ['/x.css\\bar.ts', 'ts'],
  ];
  for (const [file, loader] of expected) t.equal(guestLoader(file), loader, file);
  t.same((['js', 'jsx', 'ts', 'tsx', 'json', 'css', 'local-css', 'text'] as const).map(isCodeLoader), [
    ...Array.from({ length: 4 }, () => true),
    ...Array.from({ length: 4 }, () => false),
  ]);
  t.end();
});

t.test('of a file that cannot be imported it is said what can, and what to do', (t) => {
  const image = unknownKind('images/logo.png');
  t.match(
    image,
    /^Cannot import "images\/logo\.png": what can be imported is (\.\w+ )+\.txt\. Put what it holds into a \.json/,
  );
  const kinds = /imported is ([^:]*)\. /.exec(image)?.[1]?.split(' ') ?? [];
  t.ok(kinds.length > 5);
  for (const kind of kinds) t.ok(guestLoader(`a${kind}`) !== undefined, kind);
  t.match(unknownKind('a.wasm'), /without WebAssembly/);
  t.match(unknownKind('build/a.node'), /a native module, and a plugin runs without Node\.js/);
  t.ok(unknownKind(`${'x'.repeat(5000)}.bin`).length < 400);
  t.end();
});
