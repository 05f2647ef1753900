/**
 * Threat: the bundler turns an import into a pattern, and then searches folders of the machine for matching files. If
 * such an import is not found here, check what the bundler treats as a pattern.
 */
import { stop } from 'esbuild';
import t from 'tap';
import { globImports } from '../../../../../src/plugin-host/compiler/glob-imports.ts';

t.teardown(() => stop());

const REFUSED = /^Cannot bundle this: which file it means is only known at run time/;

t.test('a relative path with something put into it is refused, however it is written', async (t) => {
  for (const text of [
    'import(`./${x}/y`)',
    'import(`../../${x}/y`)',
    "import('./' + x)",
    "require('../' + x + '.js')",
    "require(c ? 'b' : './' + x)",
    'import(c ? `../${x}` : "b")',
    "requ\\u0069re('./' + x)",
    "r\\u{0065}quire('./' + x)",
    "import/*c*/(/*d*/'./' + x)",
    'import(\n// c\n`./${x}`)',
    "require('.' + '/' + x)",
    "require('.' + ('/' + x))",
    "require('' + './' + x)",
    "import(`${'.'}/${x}`)",
    'import(`${`./${x}`}`)',
    "(require)('./' + x)",
    "function never() { require('./' + x); }",
    "if (false) require('./' + x)",
    "try { require('./' + x) } catch {}",
    "import('./' + x, { with: { type: 'json' } })",
    "import(/* webpackChunkName: 'x' */ `./${x}`)",
    "import <!-- a\n('./' + x)",
    'import(`./\\\\${x}`)',
    "f(...require('./' + x), ...import('./' + x))",
    'module.require(`../../${x}`)',
    "module['require']('./' + x)",
    "module[`require`]('./' + x)",
    'module["req" + "uire"](`./${x}`)',
    "module['\\x72equire'](`./${x}`)",
    'm\\u006fdule.require(`./${x}`)',
    'm\\u{6F}dule["\\x72equire"](`./${x}`)',
    '(module).require(`./${x}`)',
    'module /* c */ . /* d */ require(`./${x}`)',
    '[...module.require(`./${x}`)]',
    'm\\u006fdule.require("./" + `require("./"+x)${y}`)',
    `f("${"require('./'+x)".repeat(300)}", m\\u006fdule.require("./" + x))`,
    `f(${'"require(\'./\'+x)",'.repeat(300)} m\\u006fdule.require("./" + x))`,
    'exports.a = module.exports; module.require(`./${x}`)',
  ]) {
    t.match(await globImports('a.js', text), [{ text: REFUSED }], text);
  }
  for (const text of [
    "(require as any)('./' + x)",
    "require<string>('./' + x)",
    "require!('./' + x)",
    "require(<string>'./' + x)",
    "enum E { A = './' } require(E.A + x)",
    'module!.require(`./${x}`)',
    '(module as any).require(`./${x}`)',
    '(<any>module).require(`./${x}`)',
    "(module satisfies object).require('./' + x)",
    "enum E { R = 'require' } module[E.R](`./${x}`)",
  ]) {
    t.match(await globImports('a.ts', text), [{ text: REFUSED }], text);
  }
});

t.test('whatever else is imported, and text that only looks like it, passes', async (t) => {
  for (const text of [
    "import('./a')",
    'import(`./a`)',
    "require('./a')",
    "require(c ? './a' : './b')",
    'import(x)',
    'require(name)',
    "import('' + x)",
    'import(`${x}`)',
    "import('' + (x || y))",
    "require('lodash/' + x)",
    "require('./a'.concat(x))",
    'import.meta.url',
    "function own(require) { require('./' + x); }",
    "(0, require)('./' + x)",
    "typeof require !== 'undefined' && require",
    '// import(`./${x}`)\nlet s = "require(\'./\' + x)", r = /import\\(".\\/"+/; require("n");',
    'require(n); s = \'require("./${x}")\';',
    's = "require(\'./\'+x)"; t = `${y}import("./"+x)`;',
    'loader.require(`./${x}`); import(y)',
    'a?.require(`./${x}`); this.module.require("./" + x); require(y)',
    "class A { #require(a) { return this.#require('./' + x); } } import(y)",
    '$require(`./${x}`); require(y)',
    "typeof module !== 'undefined' && module.require(n); module.require('./a')",
    'import {a} from "./a"; /* we require("./" + x) */',
  ]) {
    t.strictSame(await globImports('a.js', text), [], text);
  }
  t.strictSame(await globImports('a.json', "import('./' + x)"), [], 'no code');
});

t.test('the place is that of the call', async (t) => {
  const text = "let é;\nrequire(name);\n  /* é */ import('./' + x);";
  t.match(await globImports('lib/a.js', text), [
    { location: { file: 'lib/a.js', line: 3, column: 11, lineText: "  /* é */ import('./' + x);" } },
  ]);
  t.match(await globImports('lib/a.js', "require(name);\n/* é */ module.require('./' + x);\nmodule.exports = 1;"), [
    { location: { file: 'lib/a.js', line: 2, column: 9, lineText: "/* é */ module.require('./' + x);" } },
  ]);
});

t.test('each call is shown, but of long lines only the first', async (t) => {
  const calls = "require('./' + x); import('./' + y);\nrequire('../' + z);";
  t.match(await globImports('a.js', calls), [
    { location: { line: 1, column: 0 } },
    { location: { line: 1, column: 19 } },
    { location: { line: 2, column: 0 } },
  ]);
  t.equal((await globImports('a.js', calls.repeat(10))).length, 5);
  t.equal((await globImports('a.js', `s = "${'x'.repeat(70_000)}"; ${calls}`)).length, 1);
});

t.test('a line that is long and holds many of them takes no time', async (t) => {
  const call = "a=require('./'+x);";
  const began = performance.now();
  for (const text of [call.repeat(100_000), `"${call.repeat(100_000)}"; require(x)`]) {
    t.match(await globImports('a.js', text), [{ text: REFUSED }]);
  }
  t.ok(performance.now() - began < 20_000);
});

t.test('imports of other phases are refused, whatever they are of', async (t) => {
  for (const text of ['import.defer(`./${x}`)', "import.source('./' + x)", "import /* c */ . defer\n('../' + x)"]) {
    t.match(await globImports('a.js', text), [{ text: /not available/ }], text);
  }
});

t.test(
  'what does not compile is refused at once, also where the bundler itself would look through folders first',
  async (t) => {
    t.match(await globImports('a.js', "await 0; import('./' + x)"), [
      { text: /^Top-level await/, location: { line: 1 } },
    ]);
    t.match(await globImports('a.js', `${'let = ;'.repeat(1)} import('./' + x)`), [{ text: 'Unexpected ";"' }]);
    const many = await globImports('a.js', `${'let a;'.repeat(20)} import('./' + x)`);
    t.equal(many.length, 5);
  },
);
