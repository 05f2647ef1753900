import { SourceMap } from 'node:module';
import { resolve } from 'node:path';
import { build, stop } from 'esbuild';
import t from 'tap';
import { readSourceMap } from '../../../../../sandbox/host/compiler/source-map.ts';

t.teardown(() => stop());

t.test('every position of a bundle is found as by the reader that Node has', async (t) => {
  const { outputFiles } = await build({
    entryPoints: [resolve(import.meta.dirname, '../../../../../sandbox/host/compiler/build-job.ts')],
    ...{
      bundle: true,
      write: false,
      sourcemap: 'external',
      sourcesContent: false,
      outfile: 'out.js',
      format: 'iife',
      globalName: 'bundle',
    },
    minifyWhitespace: true,
  });
  const text = (end: string) => outputFiles.find(({ path }) => path.endsWith(end))?.text ?? '';
  const map = text('.map');
  const reference = new SourceMap(JSON.parse(map));
  const read = readSourceMap(map);
  let compared = 0;
  const lines = text('out.js').split('\n');
  for (const [line, { length }] of lines.entries()) {
    for (let column = 0; column <= length; column += 1) {
      const expected = reference.findEntry(line, column);
      if (!('originalSource' in expected) || expected.generatedLine !== line) continue;
      const { originalSource: source, originalLine, originalColumn } = expected;
      const wanted = { source, line: originalLine, column: originalColumn };
      const found = read.find(line, column);
      if (JSON.stringify(found) !== JSON.stringify(wanted)) t.strictSame(found, wanted, `${line}:${column}`);
      compared += 1;
    }
  }
  t.ok(compared > 100, `${compared} positions were compared`);
});

t.test('what a map does not know is not found', async (t) => {
  const find = (mappings: string) => readSourceMap(JSON.stringify({ version: 3, sources: ['a.ts'], mappings })).find;
  t.equal(find('')(0, 0), undefined);
  t.equal(find('EAAA')(0, 1), undefined, 'before the first of its line');
  t.equal(find('EAAA')(1, 5), undefined, 'beyond the last line');
  t.strictSame(find('EAAA;;gCAgCD')(2, 99), { source: 'a.ts', line: 32, column: -1 });
  t.equal(find('AAAA,E')(0, 2), undefined, 'code that stands in no source');
  t.equal(readSourceMap('{}').find(0, 0), undefined);
});
