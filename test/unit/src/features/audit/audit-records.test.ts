import { createHash } from 'node:crypto';
import t from 'tap';
import type { ChainSpending } from '../../../../../src/chains/chain.ts';
import {
  auditSignature,
  auditTransactionRequest,
  withAuditLog,
} from '../../../../../src/features/audit/audit-records.ts';
import { createLog } from '../../../../../src/observability/log.ts';
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

t.test('transaction audit', async (t) => {
  const spending = {
    spendOf: () => ({ recipient: '0xaa', selector: null, value: 2n ** 70n, fee: null, beyond: null }),
  } as unknown as ChainSpending;
  const transaction = { id: 't1', relayerId: 'r1' };

  t.test('a record says who asked, through which plugin, for whom and how much', async (t) => {
    const store = await storeFor(t);
    const by = { keyId: 'k1', requestId: 'q1' };
    await store.write(async (writer) => {
      await auditTransactionRequest(
        writer,
        { ...by, pluginId: 'p' },
        { action: 'send', transaction, request: { of: { spending }, fields: {} } },
      );
      await auditTransactionRequest(writer, by, { action: 'replace', transaction, request: { of: {}, fields: {} } });
      await auditTransactionRequest(writer, by, { action: 'cancel', transaction });
      await auditTransactionRequest(writer, undefined, { action: 'cancel', transaction });
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
});

const RECORD = {
  keyId: 'k',
  requestId: 'q',
  action: 'cancel',
  resource: 'transaction',
  resourceId: 't1',
  before: null,
  after: { relayer_id: 'r1', plugin_id: 'p' },
} as const;

t.test('what is kept is told once it is kept, and a send is told elsewhere', async (t) => {
  const lines: string[] = [];
  const store = withAuditLog(await storeFor(t), createLog('info', { write: (line) => void lines.push(line) }));
  await store.write(async (writer) => {
    await writer.insertAuditRecord(RECORD);
    await writer.insertAuditRecord({ ...RECORD, action: 'send' });
    t.strictSame(lines, []);
  });
  t.equal(lines.length, 1);
  t.match(JSON.parse(lines[0] ?? ''), {
    level: 'info',
    msg: 'audited',
    keyId: 'k',
    requestId: 'q',
    pluginId: 'p',
    action: 'cancel',
    resource: 'transaction',
    resourceId: 't1',
  });
  t.notMatch(lines[0], 'relayer_id');
  await t.rejects(
    store.write(async (writer) => {
      await writer.insertAuditRecord(RECORD);
      throw new Error('undone');
    }),
  );
  t.equal(lines.length, 1);
  t.equal((await store.read.auditRecords({ before: null, limit: 9 }, {})).items.length, 2);
});
