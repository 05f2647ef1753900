import type { Test } from 'tap';
import type { AuditedChange } from '../../../src/domain/settings/audit.ts';
import type { Store } from '../../../src/store/store.ts';

function changeOf(given: Partial<AuditedChange> = {}) {
  const change: AuditedChange = { action: 'update', resource: 'relayer', resourceId: 'r1', before: null, after: null };
  return { ...change, keyId: 'key-1', requestId: 'request-1', ...given };
}

/** What every store keeps of changes. */
export function auditContract(t: Test, open: (t: Test) => Promise<Store>): void {
  t.test('a record comes back with its views, integers with all their digits', async (t) => {
    const store = await open(t);
    const after = { name: 'Ünïcode', policies: { min_balance: 2n ** 100n, cap: 5n }, list: [1, null, 'x\0'] };
    await store.write((writer) =>
      writer.insertAuditRecord(changeOf({ action: 'create', after, secrets: ['signing_key'] })),
    );
    const { items, total } = await store.read.auditRecords({ page: 1, perPage: 10 }, {});
    t.equal(total, 1);
    const { position, at, ...record } = items[0] ?? {};
    t.ok(Number.isInteger(position) && Number.isInteger(at));
    t.strictSame(record, {
      ...changeOf({ action: 'create', secrets: ['signing_key'] }),
      after: { ...after, policies: { min_balance: (2n ** 100n).toString(), cap: 5 } },
    });
  });

  t.test('the latest comes first, in pages, of one kind or one thing where that is asked for', async (t) => {
    const store = await open(t);
    await store.write(async (writer) => {
      t.equal(await writer.latestAuditRecord(), 0);
      for (const resourceId of ['a', 'b', 'a']) await writer.insertAuditRecord(changeOf({ resourceId }));
      await writer.insertAuditRecord(changeOf({ resource: 'notification', resourceId: 'a' }));
    });
    const page = { page: 1, perPage: 10 };
    const idsOf = async (filter: Parameters<Store['read']['auditRecords']>[1], asked = page) => {
      const { items, total } = await store.read.auditRecords(asked, filter);
      return [items.map(({ resourceId }) => resourceId), total];
    };
    t.strictSame(await idsOf({}), [['a', 'a', 'b', 'a'], 4]);
    const [latest] = (await store.read.auditRecords(page, {})).items;
    t.equal(await store.read.latestAuditRecord(), latest?.position);
    t.strictSame(await idsOf({}, { page: 2, perPage: 3 }), [['a'], 4]);
    t.strictSame(await idsOf({ resource: 'relayer' }), [['a', 'b', 'a'], 3]);
    t.strictSame(await idsOf({ resource: 'relayer', resourceId: 'a' }), [['a', 'a'], 2]);
    t.strictSame(await idsOf({ resourceId: 'b' }), [['b'], 1]);
    t.strictSame(await idsOf({ resourceId: 'nothing' }), [[], 0]);
  });
}
