import t from 'tap';
import '../../../../../../src/domain/json/issue-text.ts';
import {
  accessListSchema,
  rlpAccessList,
  rpcAccessList,
  storedAccessListSchema,
} from '../../../../../../src/chains/evm/form/access-list.ts';

const ADDRESS = '0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed';
const KEY = `0x${'0A'.repeat(32)}`;

t.test('both spellings of the keys become one', async (t) => {
  const stored = [{ address: ADDRESS.toLowerCase(), storage_keys: [KEY.toLowerCase()] }];
  t.same(accessListSchema.parse([{ address: ADDRESS, storage_keys: [KEY] }]), stored);
  t.same(accessListSchema.parse([{ address: ADDRESS, storageKeys: [KEY.slice(2)] }]), stored);
  t.same(accessListSchema.parse([{ address: ADDRESS }]), [{ address: ADDRESS.toLowerCase(), storage_keys: [] }]);
  t.same(storedAccessListSchema.parse(stored), stored);
  t.same(rpcAccessList(stored), [{ address: ADDRESS.toLowerCase(), storageKeys: [KEY.toLowerCase()] }]);
  t.same(rlpAccessList(stored), [[ADDRESS.toLowerCase(), [KEY.toLowerCase()]]]);
});

t.test('what is no access list', async (t) => {
  for (const [list, path, said] of [
    [{}, '', /expected a list/],
    [[{ storage_keys: [] }], '0.address', /expected a string/],
    [[{ address: '0x12' }], '0.address', /20 bytes/],
    [[{ address: ADDRESS, storage_keys: ['0x1'] }], '0.storage_keys.0', /32 bytes/],
    [[{ address: ADDRESS, storage_keys: [KEY], storageKeys: [] }], '0', /not both/],
    [[{ address: ADDRESS, storageKey: [KEY] }], '0', /unknown field/],
    [[{ address: ADDRESS, storageKeys: 'x' }], '0.storageKeys', /expected a list/],
    [Array.from({ length: 4_097 }, () => ({ address: ADDRESS })), '', /at most 4096 entries/],
  ] as const) {
    const [issue] = accessListSchema.safeParse(list).error?.issues ?? [];
    t.equal(issue?.path.join('.'), path);
    t.match(issue?.message, said);
  }
});
