import { gunzipSync } from 'node:zlib';
import t from 'tap';
import { bundleConsole, CONSOLE_PAGE, CONSOLE_POLICY } from '../../../../../src/http/pages/console-page.ts';

t.test('the page and its policy have nothing inline and nothing from elsewhere', (t) => {
  t.notMatch(CONSOLE_PAGE, /<style|<script[^>]*>[^<]|https?:|\son\w+=/);
  t.notMatch(CONSOLE_POLICY, /unsafe|https?:|\*/);
  t.match(CONSOLE_POLICY, /^default-src 'none'; .*frame-ancestors 'none'/);
  t.end();
});

t.test('the first view is small', async (t) => {
  const { script, style } = await bundleConsole();
  t.ok(script.byteLength + style.byteLength < 60_000, `${script.byteLength} + ${style.byteLength} bytes`);
  t.notMatch(gunzipSync(script).toString('utf8'), 'ZodError', 'what judges permissions comes without the schemas');
  t.match(gunzipSync(style).toString('utf8'), '--accent');
});
