import { Readable } from 'node:stream';
import * as node from 'node:stream/consumers';
import t from 'tap';
import { streamConsumers } from '../../../../../sandbox/guest/lazy/modules.ts';
import { sameAsNode } from '../../../../support/same-as-node.ts';

t.test('all of a stream at once, as in Node', async (t) => {
  const stream = () => Readable.from([Buffer.from('{"a":'), Buffer.from('"€"}')], { objectMode: false });
  await sameAsNode(t, streamConsumers as unknown as typeof node, node, {
    text: (module) => module.text(stream()),
    json: (module) => module.json(stream()),
    buffer: (module) => module.buffer(stream()),
    arrayBuffer: (module) => module.arrayBuffer(stream()),
    blob: async (module) => (await module.blob(stream())).size,
    texts: (module) => module.text(Readable.from(['a', 'b'])),
  });
  t.equal((await streamConsumers.bytes(['x'])).length, 1);
});
