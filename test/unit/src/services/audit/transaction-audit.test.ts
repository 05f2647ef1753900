import t from 'tap';
import type { ChainSpending } from '../../../../../src/chains/chain.ts';
import { auditRequest } from '../../../../../src/services/audit-records.ts';
import { storeFor } from '../../../../support/store.ts';

const spending = {
  spendOf: () => ({ recipient: '0xaa', selector: null, value: 2n ** 70n, fee: null, beyond: null }),
} as unknown as ChainSpending;
const transaction = { id: 't1', relayerId: 'r1' };

t.test('a record says who asked, through which plugin, for whom and how much', async (t) => {
  const store = await storeFor(t);
  const by = { keyId: 'k1', requestId: 'q1' };
  await store.write(async (writer) => {
    await auditRequest(
      writer,
      { ...by, pluginId: 'p' },
      { action: 'send', transaction, request: { of: { spending }, fields: {} } },
    );
    await auditRequest(writer, by, { action: 'replace', transaction, request: { of: {}, fields: {} } });
    await auditRequest(writer, by, { action: 'cancel', transaction });
    await auditRequest(writer, undefined, { action: 'cancel', transaction });
  });
  const { items } = await store.read.auditRecords({ before: null, limit: 10 }, { resource: 'transaction' });
  t.strictSame(
    items.map(({ action, resourceId, keyId, requestId, after }) => [action, resourceId, keyId, requestId, after]),
    [
      ['cancel', 't1', 'k1', 'q1', { relayer_id: 'r1' }],
      ['replace', 't1', 'k1', 'q1', { relayer_id: 'r1' }],
      ['send', 't1', 'k1', 'q1', { relayer_id: 'r1', plugin_id: 'p', recipient: '0xaa', value: String(2n ** 70n) }],
    ],
  );
});
