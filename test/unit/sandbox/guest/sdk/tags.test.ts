import t from 'tap';
import * as tags from '../../../../../sandbox/guest/sdk/tags.ts';

t.test('has the values of the public SDK, for good', async (t) => {
  const original = (await import('@openzeppelin/relayer-sdk')) as unknown as Record<string, unknown>;
  for (const [name, values] of Object.entries(tags)) {
    t.strictSame({ ...values }, original[name], name);
    t.ok(Object.isFrozen(values));
  }
});
