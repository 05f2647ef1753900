/**
 * Threat: the bundler turns an import into a pattern, and then searches folders of the machine for matching files. If
 * such an import is not found here, check what the bundler treats as a pattern.
 */

import { runInNewContext } from 'node:vm';
import { stop, transform } from 'esbuild';
import t from 'tap';
import {
  findDynamicImportCalls,
  globImports,
  replaceDynamicImportCalls,
} from '../../../../host/compiler/glob-imports.ts';

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

/**
 * Threat: a package's code makes the bundler search folders of the machine, through a call that should have been
 * replaced but was not. If such a test fails, check the text that the bundler gets.
 */
t.test('package patterns', async (t) => {
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
    const made = await replaceDynamicImportCalls(FILE, text);
    if (typeof made !== 'string') return t.fail(JSON.stringify(made));
    t.strictSame(await findDynamicImportCalls(FILE, made), []);
    const world = {
      exports: {} as Record<string, (x: string) => unknown>,
      module: {},
      require: (name: string) => name,
    };
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
      const made = await replaceDynamicImportCalls(`node_modules/p/${file}`, text);
      if (typeof made !== 'string') t.fail(`${text}: ${JSON.stringify(made)}`);
      else {
        t.not(made, text);
        t.strictSame(await findDynamicImportCalls(file, made), [], encodeURIComponent(text));
        const loader = file.endsWith('ts') ? 'ts' : 'jsx';
        t.ok((await transform(made, { loader })).code, 'it compiles');
      }
    }
    for (const text of ["require('./a')", 's = "require(\'./\'+x)"', 'require(name)', 'import(`./a`)']) {
      t.equal(await replaceDynamicImportCalls(FILE, text), text, text);
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
      const [first] = await replaceDynamicImportCalls(FILE, text);
      t.match(first, { text: said, location: { file: FILE, line: 2 } }, text.slice(0, 60));
    }
    t.match(await replaceDynamicImportCalls('../shared/a.js', "requ\\u0069re('./' + x)"), [
      { text: /"\.\.\/shared\/a\.js"/ },
    ]);
    t.match(await replaceDynamicImportCalls(FILE, "let = ; require('./' + x)"), [
      { text: 'Unexpected ";"', location: { line: 1 } },
    ]);
  });
});
