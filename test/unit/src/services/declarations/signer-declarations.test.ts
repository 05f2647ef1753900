import t from 'tap';
import { createLog } from '../../../../../src/observability/log.ts';
import { applySigners } from '../../../../../src/services/declarations/signer-declarations.ts';
import { putSigner } from '../../../../support/settings-stage.ts';
import { relayerOf, storeFor } from '../../../../support/store.ts';

t.test(
  'the configuration’s take the place of those of clients, which go with a reset unless a relayer uses them',
  async (t) => {
    const store = await storeFor(t);
    for (const id of ['used', 'unused', 'both']) await putSigner(store, id);
    await store.write((writer) => writer.putRelayer(relayerOf({ signerId: 'used' })));
    const lines: string[] = [];
    const log = createLog('info', { write: (line) => void lines.push(line) });
    const left = async () => (await store.read.allSigners()).map(({ id }) => id).toSorted((a, b) => (a < b ? -1 : 1));

    await applySigners(store, [{ id: 'both' }], log);
    t.strictSame(await left(), ['both', 'unused', 'used']);
    t.equal(lines.length, 1);
    t.match(lines[0], /"signer":"both"/);
    await applySigners(store, [{ id: 'both' }], log, { reset: true });
    t.strictSame(await left(), ['used']);
  },
);
