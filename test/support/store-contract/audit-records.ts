import type { Test } from 'tap';
import type { AuditedChange } from '../../../src/features/audit/record.ts';
import type { Store } from '../../../src/store/store.ts';

function changeOf(given: Partial<AuditedChange> = {}) {
  const change: AuditedChange = { action: 'update', resource: 'relayer', resourceId: 'r1', before: null, after: null };
  return { ...change, keyId: 'key-1', requestId: 'request-1', ...given };
}

/** Tests of recorded changes for every store. */
export function auditContract(t: Test, open: (t: Test) => Promise<Store>): void {
  t.test('a record comes back with its views, integers with all their digits', async (t) => {
    const store = await open(t);
    const after = { name: 'Ünïcode', policies: { min_balance: 2n ** 100n, cap: 5n }, list: [1, null, 'x\0'] };
    await store.write((writer) =>
      writer.insertAuditRecord(changeOf({ action: 'create', after, secrets: ['signing_key'] })),
    );
    const { items, next } = await store.read.auditRecords({ before: null, limit: 10 }, {});
    t.strictSame([items.length, next], [1, null]);
    const { position, at, ...record } = items[0] ?? {};
    t.ok(Number.isInteger(position) && Number.isInteger(at));
    t.strictSame(record, {
      ...changeOf({ action: 'create', secrets: ['signing_key'] }),
      after: { ...after, policies: { min_balance: (2n ** 100n).toString(), cap: 5 } },
    });
  });

  t.test('the latest comes first, part by part, of one kind, thing or key where that is asked for', async (t) => {
    const store = await open(t);
    await store.write(async (writer) => {
      t.equal(await writer.latestChange(), 0);
      for (const resourceId of ['a', 'b', 'a']) await writer.insertAuditRecord(changeOf({ resourceId }));
      await writer.insertAuditRecord({ ...changeOf({ resource: 'notification', resourceId: 'a' }), keyId: 'key-2' });
    });
    const [latest] = (await store.read.auditRecords({ before: null, limit: 1 }, {})).items;
    await store.write(async (writer) => {
      const sent = { action: 'send', resource: 'transaction', resourceId: 't' } as const;
      for (let count = 0; count < 3; count += 1) await writer.insertAuditRecord(changeOf(sent));
    });
    t.equal(await store.read.latestChange(), latest?.position, 'what is sent changes no setting');
    const idsOf = async (filter: Parameters<Store['read']['auditRecords']>[1], limit = 10) => {
      const seen: string[] = [];
      let before: number | null = null;
      do {
        const part: Awaited<ReturnType<Store['read']['auditRecords']>> = await store.read.auditRecords(
          { before, limit },
          filter,
        );
        seen.push(...part.items.map(({ resourceId }) => resourceId));
        before = part.next;
      } while (before !== null);
      return seen.join('');
    };
    t.equal(await idsOf({}), 'tttaaba');
    t.equal(await idsOf({}, 2), 'tttaaba', 'in parts, too');
    t.equal(await idsOf({ resource: 'relayer' }), 'aba');
    t.equal(await idsOf({ resource: 'relayer', resourceId: 'a' }, 1), 'aa');
    t.equal(await idsOf({ resource: 'transaction' }), 'ttt');
    t.equal(await idsOf({ resourceId: 'b' }), 'b');
    t.equal(await idsOf({ keyId: 'key-2' }), 'a');
    t.equal(await idsOf({ resourceId: 'nothing' }), '');
    t.strictSame(await store.read.auditRecords({ before: null, limit: 0 }, {}), { items: [], next: null });
  });

  t.test(
    'what it has of transactions and signatures is pruned, the oldest first; changes of settings stay',
    async (t) => {
      const store = await open(t);
      await store.write(async (writer) => {
        await writer.insertAuditRecord(changeOf());
        await writer.insertAuditRecord(changeOf({ action: 'sign', resource: 'signature', resourceId: '1' }));
        for (const resourceId of ['2', '3']) {
          await writer.insertAuditRecord(changeOf({ action: 'send', resource: 'transaction', resourceId }));
        }
      });
      t.equal(await store.write((writer) => writer.pruneAudit(0, 10)), 0);
      const later = (await store.now()) + 1_000;
      t.equal(await store.write((writer) => writer.pruneAudit(later, 2)), 2);
      const { items } = await store.read.auditRecords({ before: null, limit: 10 }, {});
      t.match(items, [{ resourceId: '3' }, { resource: 'relayer' }]);
      t.equal(await store.write((writer) => writer.pruneAudit(later, 10)), 1);
      t.equal(await store.write((writer) => writer.pruneAudit(later, 10)), 0);
    },
  );
}
