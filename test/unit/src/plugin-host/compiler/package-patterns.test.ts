/**
 * Threat: a package's code makes the bundler search folders of the machine, through a call that should have been
 * replaced but was not. If such a test fails, check the text that the bundler gets.
 */
import { runInNewContext } from 'node:vm';
import { stop, transform } from 'esbuild';
import t from 'tap';
import { patternCalls } from '../../../../../src/plugin-host/compiler/glob-imports.ts';
import { throwingPatterns } from '../../../../../src/plugin-host/compiler/package-patterns.ts';

t.teardown(() => stop());

const FILE = 'node_modules/@a/locales/lib/index.js';
const MESSAGE =
  'This module picks a file at run time, which a bundle cannot do: plugins/node_modules/@a/locales/lib/index.js';

t.test('a call that picks a file throws as a missing module does, and its neighbours stay', async (t) => {
  const text = [
    'const fixed = require("./fixed");',
    'exports.load = (x) => { try { return require("./locale/" + x); } catch (error) { return error; } };',
    'exports.later = (x) => import(`./locale/${x}.js`);',
    'exports.own = (x) => module.require("../" + x); // a comment without an end of its line',
  ].join('\n');
  const made = await throwingPatterns(FILE, text);
  if (typeof made !== 'string') return t.fail(JSON.stringify(made));
  t.strictSame(await patternCalls(FILE, made), []);
  const world = { exports: {} as Record<string, (x: string) => unknown>, module: {}, require: (name: string) => name };
  runInNewContext(made, world);
  t.match(world.exports['load']?.('de'), { message: `${MESSAGE}:2`, code: 'MODULE_NOT_FOUND' });
  await t.rejects(async () => world.exports['later']?.('de'), {
    message: `${MESSAGE}:3`,
    code: 'ERR_MODULE_NOT_FOUND',
  });
  t.throws(() => world.exports['own']?.('de'), { message: `${MESSAGE}:4` });
  const names = /\$p\w{4} */g;
  for (const [row, line] of text.split('\n').entries()) {
    const [now = ''] = made.split('\n').slice(row);
    t.equal(now.length, line.length, 'every column stays where it is');
    t.equal(now.replace(names, ''), line.replace(/\b(?:require|import|module\.require)(?=\((?!"\.\/fixed))/g, ''));
  }
});

t.test('whatever stands in a package is left alone or no pattern afterwards', async (t) => {
  for (const [file, text] of [
    ['a.js', "(require)('./' + x); é = '𐍈' + require /* c */ ('../' + x);"],
    ['a.js', 'f(...require(`./${x}`), new (require("./" + x))(), import("./" + x, { with: { type: "json" } }))'],
    ['a.js', "class A extends require('./' + x) { static b = import('./' + x); }"],
    ['a.js', "module['require']('./' + x); module . require('./' + x)"],
    ['a.js', "a\r\nb\u2028require('./' + x)\n-->"],
    ['a.js', 'let $p0000 = 1; require("./" + x)'],
    ['a.js', "require(c ? './a' : './' + x)"],
    ['a.js', '\uFEFFrequire("./" + x)'],
    ['a.mjs', 'import a from "./a"; export default (x) => import(`./${x}`);'],
    ['a.ts', "(require as any)('./' + x); require<string>('./' + x); enum E { A = './' } require(E.A + x);"],
    ['a.jsx', '<a b={require("./" + x)} />'],
  ] as const) {
    const made = await throwingPatterns(`node_modules/p/${file}`, text);
    if (typeof made !== 'string') t.fail(`${text}: ${JSON.stringify(made)}`);
    else {
      t.not(made, text);
      t.strictSame(await patternCalls(file, made), [], encodeURIComponent(text));
      const loader = file.endsWith('ts') ? 'ts' : 'jsx';
      t.ok((await transform(made, { loader })).code, 'it compiles');
    }
  }
  for (const text of ["require('./a')", 's = "require(\'./\'+x)"', 'require(name)', 'import(`./a`)']) {
    t.equal(await throwingPatterns(FILE, text), text, text);
  }
});

t.test('what cannot be replaced is refused, with the package and the place', async (t) => {
  const said = /^Cannot bundle the package "@a\/locales": which file this means is only known at run time\. Import/;
  for (const text of [
    "\n requ\\u0069re('./' + x)",
    "\n module/* c */.require('./' + x)",
    "\n module['\\x72equire']('./' + x)",
    `\n ${"require('./' + x);".repeat(101)}`,
    `\n /* ${Array.from({ length: 1000 }, (_, n) => `$p${n.toString(36).padStart(4, '0')}`).join()} */ require('./' + x)`,
  ]) {
    const [first] = await throwingPatterns(FILE, text);
    t.match(first, { text: said, location: { file: FILE, line: 2 } }, text.slice(0, 60));
  }
  t.match(await throwingPatterns('../shared/a.js', "requ\\u0069re('./' + x)"), [{ text: /"\.\.\/shared\/a\.js"/ }]);
  t.match(await throwingPatterns(FILE, "let = ; require('./' + x)"), [
    { text: 'Unexpected ";"', location: { line: 1 } },
  ]);
});
