import * as node from 'node:os';
import t from 'tap';
import { createOs } from '../../../../../sandbox/guest/node/os.ts';

t.test('every function of Node’s is there, and none tells of the machine', async (t) => {
  const ours = createOs(() => 4.5);
  const missing = Object.keys(node).filter((name) => !(name in ours) && name !== 'default' && !name.startsWith('on'));
  t.strictSame(missing, []);
  for (const name of Object.keys(ours))
    t.equal(typeof ours[name], typeof (node as Record<string, unknown>)[name], name);
  t.equal((ours['uptime'] as () => number)(), 4.5);
  t.not((ours['hostname'] as () => string)(), node.hostname());
  const asked = Object.entries(ours).filter(([, value]) => typeof value === 'function' && value.length === 0);
  for (const [name, value] of asked) t.doesNotThrow(() => (value as () => unknown)(), name);
});
