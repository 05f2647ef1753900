import { createHash } from 'node:crypto';
import t from 'tap';
import { auditSignature } from '../../../../../src/services/audit-records.ts';
import { storeFor } from '../../../../support/store.ts';

t.test('a record says who had what signed, and is never large', async (t) => {
  const store = await storeFor(t);
  const by = { keyId: 'k1', requestId: 'q1' };
  const long = `${'é'.repeat(1_990)}${'🚀'.repeat(100_000)}\u0000`;
  await store.write(async (writer) => {
    await auditSignature(
      writer,
      { ...by, pluginId: 'p' },
      { relayerId: 'r1', what: 'transaction', request: { b: 1, a: 2n } },
    );
    await auditSignature(writer, by, { relayerId: 'r1', what: 'message', request: { message: long } });
    await auditSignature(writer, undefined, { relayerId: 'r1', what: 'message', request: {} });
  });
  const { items } = await store.read.auditRecords(
    { before: null, limit: 10 },
    { resource: 'signature', resourceId: 'r1' },
  );
  const [message, transaction] = items;
  t.equal(items.length, 2);
  const text = '{"a":2,"b":1}';
  t.match(transaction, { action: 'sign', keyId: 'k1', requestId: 'q1', before: null });
  t.strictSame(transaction?.after, {
    plugin_id: 'p',
    what: 'transaction',
    request: text,
    is_cut: false,
    request_sha256: createHash('sha256').update(text).digest('hex'),
  });
  const { request, is_cut: isCut } = { request: '', is_cut: false, ...message?.after };
  t.ok(isCut && request.length === 2_000 && request.isWellFormed());
  t.match(message?.after, {
    request_sha256: createHash('sha256')
      .update(JSON.stringify({ message: long }))
      .digest('hex'),
  });
});
