import t from 'tap';
import { Access } from '../../../../../src/features/api-keys/records/access.ts';
import { notReachedYet } from '../../../../../src/features/relayers/records/disabled-reason.ts';
import { laneKey } from '../../../../../src/features/transactions/records/lane.ts';
import { OPERATOR, operatorOnce } from '../../../../support/caller.ts';
import { keyedEffect } from '../../../../support/keyed-effect.ts';
import { ACCOUNT, putSigner, settingsStage } from '../../../../support/settings-stage.ts';
import { relayerOf, transactionOf } from '../../../../support/store.ts';

const BODY = {
  id: 'new',
  name: 'New',
  network: 'sepolia',
  network_type: 'evm',
  paused: false,
  signer_id: 'key',
} as const;

t.test('a relayer is made with the account of its signer, and taken up at once', async (t) => {
  const { create, store, rechecked, audit } = await settingsStage(t);
  const made = await create({
    ...BODY,
    notification_id: 'hook-1',
    policies: { gas_price_cap: '5', whitelist_receivers: null },
    custom_rpc_urls: [{ url: 'https://rpc.example/a-secret-key' }],
  });
  t.strictSame(made, {
    id: 'new',
    name: 'New',
    network: 'sepolia',
    networkType: 'evm',
    address: ACCOUNT,
    paused: false,
    disabledReason: notReachedYet('sepolia'),
    signerId: 'key',
    notificationId: 'hook-1',
    customRpcUrls: [{ url: 'https://rpc.example/a-secret-key', weight: 100 }],
    policies: { gas_price_cap: 5 },
    declaration: null,
  });
  t.strictSame(await store.read.relayer('new'), made);
  t.strictSame(rechecked, ['new']);
  const [record] = await audit();
  t.match(record, { action: 'create', resourceId: 'new', before: null, after: { id: 'new', address: ACCOUNT } });
  t.notMatch(JSON.stringify(record), 'a-secret-key');
});

t.test('without an id it gets one; what is not given is not set', async (t) => {
  const { create } = await settingsStage(t);
  const { id: _, ...body } = BODY;
  t.match(await create({ ...body, id: null, policies: null, notification_id: null, custom_rpc_urls: null }), {
    id: /^[0-9a-f-]{36}$/,
    policies: {},
    notificationId: null,
    customRpcUrls: null,
  });
});

t.test('a faulty body is refused with its field', async (t) => {
  const { create, store } = await settingsStage(t);
  for (const [change, message] of [
    [{ name: '' }, 'name: Name cannot be empty'],
    [{ network: '' }, 'network: Network cannot be empty'],
    [{ signer_id: '' }, 'signer_id: Signer ID cannot be empty'],
    [{ id: 'a b' }, /^id: ID must contain only letters/],
    [{ paused: undefined }, 'paused: missing'],
    [{ paused: 'no' }, /^paused: /],
    [{ network_type: 'near' }, /^network_type: /],
    [{ networkType: 'evm' }, 'unknown field `networkType`, did you mean `network_type`?'],
    [{ address: ACCOUNT }, /^unknown field `address`/],
    [{ policies: { gasPriceCap: 5 } }, 'policies: unknown field `gasPriceCap`, did you mean `gas_price_cap`?'],
    [{ policies: { network_type: 'evm' } }, /^policies: unknown field `network_type`/],
    [
      { policies: { private_transactions: true } },
      /^policies: private_transactions is not supported on network sepolia/,
    ],
    [{ custom_rpc_urls: ['https://rpc.example'] }, /^custom_rpc_urls\.0: /],
    [{ custom_rpc_urls: [{ url: 'http://10.0.0.1' }] }, /^custom_rpc_urls\.0\.url: Invalid RPC URL: 10\.0\.0\.1/],
    [
      { network: 'Sepolia' },
      "Network 'Sepolia' not found for network type 'evm'. Please ensure the network configuration exists.",
    ],
    [{ network_type: 'solana' }, /^Network 'sepolia' not found for network type 'solana'/],
    [{ network_type: 'stellar', policies: {} }, /^policies\.fee_payment_strategy/],
  ] as const) {
    await t.rejects(create({ ...BODY, ...change }), { code: 'INVALID_REQUEST', message }, JSON.stringify(change));
  }
  t.equal((await store.read.allRelayers()).length, 1);
});

t.test('what it refers to has to be there', async (t) => {
  const { create } = await settingsStage(t);
  await t.rejects(create({ ...BODY, signer_id: 'nobody' }), {
    code: 'SIGNER_NOT_FOUND',
    message: 'Signer with ID nobody not found',
  });
  await t.rejects(create({ ...BODY, notification_id: 'nobody' }), { code: 'NOTIFICATION_NOT_FOUND' });
  await t.rejects(create({ ...BODY, id: 'r1' }), { code: 'RELAYER_EXISTS', status: 409 });
});

t.test('a key makes relayers only of what exists for it', async (t) => {
  const { create, store } = await settingsStage(t);
  const by = (...more: string[]) => ({ ...OPERATOR, access: new Access(['relayers:write', ...more]) });
  const theirs = { ...BODY, notification_id: 'hook-1' };
  await t.rejects(create(theirs, by()), { message: 'Signer with ID key not found' });
  await t.rejects(create(theirs, by('signers:read')), { code: 'NOT_PERMITTED' });
  await t.rejects(create(theirs, by('signers:write')), { message: /^Network 'sepolia' not found/ });
  await t.rejects(create(theirs, by('signers:write', 'networks:read')), { code: 'NOTIFICATION_NOT_FOUND' });
  t.equal(await store.read.relayer('new'), undefined);
  t.match(await create(theirs, by('signers:write', 'networks:read', 'notifications:read')), { id: 'new' });
});

t.test('a signer is one relayer’s on each network', async (t) => {
  const { create, store } = await settingsStage(t);
  await create(BODY);
  await t.rejects(create({ ...BODY, id: 'second' }), {
    code: 'INVALID_REQUEST',
    message: /signer 'key' is already in use by relayer 'new' on network 'sepolia'/,
  });
  t.match(await create({ ...BODY, id: 'elsewhere', network: 'mainnet' }), { id: 'elsewhere' });
  await putSigner(store, 'other');
  t.match(await create({ ...BODY, id: 'other', signer_id: 'other' }), { address: ACCOUNT });
  t.match(await create({ ...BODY, id: 'svm', network_type: 'solana', network: 'devnet' }), { networkType: 'solana' });
});

t.test('endpoints of another chain than the network’s are refused', async (t) => {
  const { create, world, store } = await settingsStage(t);
  await store.write((writer) => writer.pinChainIdentity('evm', 'sepolia', '11155111'));
  world.client.identity = async (_expected, onServed = () => {}) => {
    onServed('rpc.example', '1');
    return '1';
  };
  await t.rejects(create({ ...BODY, custom_rpc_urls: [{ url: 'https://rpc.example' }] }), {
    message: 'custom_rpc_urls: the endpoints serve chain 1, but network sepolia is chain 11155111',
  });
});

t.test('an id whose transactions are kept is given again only to the same account on the same chain', async (t) => {
  const { create, store } = await settingsStage(t);
  const lane = laneKey('evm', '11155111', ACCOUNT);
  await store.write(async (writer) => {
    await writer.insertTransaction(transactionOf({ relayerId: 'same', lane }));
    await writer.insertTransaction(transactionOf({ relayerId: 'other', lane: laneKey('evm', '11155111', '0xother') }));
  });
  for (const id of ['same', 'other']) {
    await t.rejects(create({ ...BODY, id }), { code: 'RELAYER_ID_KEPT', status: 409 }, 'before the chain is known');
  }
  await store.write((writer) => writer.pinChainIdentity('evm', 'sepolia', '11155111'));
  await t.rejects(create({ ...BODY, id: 'other' }), { code: 'RELAYER_ID_KEPT', message: /choose another ID/ });
  t.match(await create({ ...BODY, id: 'same' }), { id: 'same' });
});

t.test('under one name one relayer is made', async (t) => {
  const { create, store } = await settingsStage(t);
  const once = operatorOnce(await keyedEffect(store));
  const [first, second] = await Promise.all([create(BODY, once), create(BODY, once)]);
  t.strictSame(first, second);
  t.strictSame(await create(BODY, once), first);
  await store.write((writer) => writer.putRelayer(relayerOf({ id: 'new', name: 'Renamed' })));
  t.equal((await create(BODY, once)).name, 'Renamed', 'as it is');
});
