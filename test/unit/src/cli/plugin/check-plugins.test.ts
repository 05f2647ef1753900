import { readdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { checkPlugins } from '../../../../../src/cli/plugin/check-plugins.ts';
import { commandBefore, given } from '../../../../support/cli-answers.ts';

const plugins = {
  'wide.ts': `import { createHash } from 'node:crypto';
    import legacy from 'legacy';
    export const handler = async () => [createHash('md5'), legacy, process.env.API_URL, await fetch('https://api.example/x')];`,
  'broken.ts': `import { a } from 'not-there';
    import { b } from './neither.ts';
    export const handler = () => [a, b];`,
  node_modules: {
    legacy: {
      'package.json': '{ "name": "legacy" }',
      'index.js': "const fs = require('fs'); module.exports = () => fs.readFileSync;",
    },
  },
};

t.test('what a plugin is made of and would have to be granted', { timeout: 120_000 }, async (t) => {
  const { context, said, complained } = commandBefore(t.testdir({ plugins }), () => ({ body: {} }));
  t.equal(await checkPlugins(context, given([])), 1);
  for (const line of [
    'There is no configuration file, which is allowed: grants are taken for none',
    /plugin wide: wide\.ts compiles, \d+\.\d KiB/,
    'of Node: crypto',
    'throws when it is called: fs',
    'is not granted: API_URL',
    'may not fetch from: api.example',
    '"permissions":{"relayers":{},"kv":true,"env":["API_URL"],"hosts":["api.example"]}',
    /compiled in \d+\.\d s/,
    'types: not checked',
  ]) {
    t.match(said(), line);
  }
  t.match(
    complained(),
    /^plugin broken.*broken\.ts:1:\d+: Could not resolve "not-there"\n.*broken\.ts:2:\d+: .*neither/,
  );
});

t.test('faults of other plugins are not those of the one that is asked for', { timeout: 240_000 }, async (t) => {
  const wrong = 'export const handler = (): number => "x";';
  const files = {
    'tsconfig.json': '{ "compilerOptions": { "strict": true, "types": [] } }',
    'right.ts': 'export const handler = () => 1;',
    'wrong.ts': wrong,
    'broken.ts': `import './neither.ts';`,
    deep: { 'index.ts': wrong },
  };
  const { context, said, complained } = commandBefore(t.testdir({ plugins: files }), () => ({ body: {} }));
  t.equal(await checkPlugins(context, given(['right'])), 0, complained());
  t.match(said(), 'types: right');
  t.equal(complained(), '');
  await t.rejects(checkPlugins(context, given(['nobody'])), /There is no plugin "nobody" in/);
  t.equal(await checkPlugins(context, given([])), 1);
  for (const line of [/^wrong\.ts\(1,\d+\): error TS2322/m, /^deep\/index\.ts\(1,/m]) t.match(complained(), line);
  t.match(said(), 'types: 3 problems');
});

t.test('a file that does not parse hides no type error of another', { timeout: 240_000 }, async (t) => {
  const files = {
    'tsconfig.json': '{ "compilerOptions": { "strict": true, "types": [] } }',
    'typo.ts': 'export const handler = () => ({ send: 1 }).sned;',
    'other.ts': 'export async function handler( {',
    'imports.ts': `import './_half.ts'; export const handler = () => 1;`,
    '_half.ts': 'export const x = ;',
    'long.ts': `export const handler = (): { a: { b: string } } => ({ a: { b: 1 } }) as { a: { b: number } };`,
  };
  const folder = t.testdir({ plugins: files });
  const check = async (...ids: string[]) => {
    const { context, said, complained } = commandBefore(folder, () => ({ body: {} }));
    return { code: await checkPlugins(context, given(ids)), said: said(), complained: complained() };
  };
  t.match(await check('typo'), {
    code: 1,
    said: /types: 1 problem$/m,
    complained: /^typo\.ts\(1,\d+\): error TS2339: .*'sned'/m,
  });
  t.match(await check('long'), { code: 1, said: /types: 1 problem$/m, complained: /^long\.ts.*TS2322.*\n +/ });
  t.match(await check('imports'), { code: 1, said: 'types: not checked, because _half.ts does not parse' });
  t.match(await check(), { code: 1, said: 'types: not checked, because _half.ts does not parse' });
  rmSync(join(folder, 'plugins', 'imports.ts'));
  t.match(await check(), {
    code: 1,
    complained: /other\.ts\(1,\d+\): error TS1[^]*typo\.ts\(1,\d+\): error TS2339/,
  });
  t.strictSame(
    readdirSync(join(folder, 'plugins')).sort(),
    Object.keys(files)
      .filter((file) => file !== 'imports.ts')
      .sort(),
    'nothing is left behind',
  );
});
