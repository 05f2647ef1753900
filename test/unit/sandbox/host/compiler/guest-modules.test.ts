import { build, stop } from 'esbuild';
import t from 'tap';
import {
  isProvided,
  nodeModule,
  partImports,
  providedCall,
  providedText,
} from '../../../../../sandbox/host/compiler/guest-modules.ts';

t.teardown(() => stop());

t.test('modules of Node are told from packages', (t) => {
  t.strictSame(['fs', 'node:fs', 'node:test', 'test', 'left-pad', './fs', 'fs/promises', 'events/'].map(nodeModule), [
    'fs',
    'fs',
    'test',
    undefined,
    undefined,
    undefined,
    'fs/promises',
    undefined,
  ]);
  t.strictSame(['events', 'fs', 'node:events'].map(isProvided), [true, false, false]);
  t.match(providedText('events'), providedCall('events'));
  t.end();
});

t.test('parts of the runtime find each other, and no second one of a kind', async (t) => {
  const contents = `require('events'); require('node:path'); require('process/'); require('string_decoder/'); require('abort-controller'); require('node-inspect-extracted');`;
  const { outputFiles } = await build({
    stdin: { contents, resolveDir: import.meta.dirname },
    bundle: true,
    write: false,
    platform: 'browser',
    plugins: [partImports('esbuild')],
    external: ['esbuild'],
  });
  const text = outputFiles[0]?.text ?? '';
  for (const name of ['events', 'path', 'process', 'string_decoder']) {
    t.match(
      text,
      new RegExp(String.raw`module\.exports = globalThis\[.*Symbol\.for\("isolayer\.module"\)\]\("${name}"\)`),
    );
  }
  t.match(text, /var \{ globalThis: .*, Reflect: .* \} = __require\("esbuild"\)/);
  t.notMatch(text, 'class AbortController');
});
