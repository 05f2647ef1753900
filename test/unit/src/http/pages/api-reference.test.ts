import t from 'tap';
import { REFERENCE_PAGE, REFERENCE_POLICY } from '../../../../../src/http/pages/api-reference.ts';
import { inlineSource } from '../../../../../src/http/pages/html.ts';

t.test('the policy lets the page run its own script and nothing inline besides', async (t) => {
  const [, inline = ''] = /<script>([^]*?)<\/script>/.exec(REFERENCE_PAGE) ?? [];
  t.match(inline, 'Scalar.createApiReference');
  t.match(REFERENCE_POLICY, `script-src 'self' ${inlineSource(inline)};`);
  t.notMatch(REFERENCE_POLICY, /https?:/);
});
