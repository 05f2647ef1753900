/** A real node checks what a relayer signs: it recovers the signer, mines the transaction, and reports its fields. */
import { hashMessage, Transaction, TypedDataEncoder, Wallet } from 'ethers';
import t, { type Test } from 'tap';
import { fund } from '../../examples/demo/chain.ts';
import { type Anvil, startAnvil } from '../support/anvil.ts';
import { composeService } from '../support/composed-service.ts';
import { eventually } from '../support/eventually.ts';
import type { AnswerBody, StartedService } from '../support/service.ts';
import { createWorkspace } from '../support/workspace.ts';

const RECEIVER = '0x00000000000000000000000000000000000000b0';
const OTHER = '0x00000000000000000000000000000000000000c0';
const CHAIN_ID = 31_337;
const RELAYER = '/api/v1/relayers/local-1';
const WITHIN_MS = 20_000;

interface Stage {
  anvil: Anvil;
  service: StartedService;
  address: string;
  /** Returns a new wallet on every call. It has sent nothing yet. */
  stranger(): Wallet;
  post(path: string, body: unknown): Promise<{ status: number; body: AnswerBody }>;
}

async function stage(t: Test, relayer: object = {}): Promise<Stage> {
  const anvil = await startAnvil();
  t.teardown(() => anvil.stop());
  const workspace = await createWorkspace({ rpcUrl: anvil.url, relayer });
  t.teardown(() => workspace.remove());
  await fund(anvil.url, workspace.address);
  const service = await composeService(workspace.env);
  t.teardown(() => service.stop());
  return {
    anvil,
    service,
    address: workspace.address,
    stranger: () => new Wallet(Wallet.createRandom().privateKey),
    post: (path, body) => service.request('POST', `${RELAYER}/${path}`, body),
  };
}

/** Sends a transaction and waits until it is in a block. Returns the transaction as the node reports it. */
async function sendAndMine({ anvil, service, post }: Stage, body: object): Promise<AnswerBody> {
  const accepted = await post('transactions', body);
  if (accepted.status !== 200) throw new Error(JSON.stringify(accepted.body));
  const giveUpAt = performance.now() + WITHIN_MS;
  for (;;) {
    const { data } = (await service.request('GET', `${RELAYER}/transactions/${accepted.body.data.id}`)).body;
    if (data.status === 'mined' || data.status === 'confirmed') {
      return { shown: data, onChain: await anvil.rpc('eth_getTransactionByHash', [data.hash]) };
    }
    if (data.status === 'failed' || performance.now() > giveUpAt) throw new Error(JSON.stringify(data));
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}

/** The address that the node's ecrecover precompile recovers. */
async function recovered(anvil: Anvil, digest: string, { r, s, v }: AnswerBody): Promise<string> {
  const data = `${digest}${Number(v).toString(16).padStart(64, '0')}${r}${s}`;
  const word = await anvil.rpc('eth_call', [{ to: '0x0000000000000000000000000000000000000001', data }, 'latest']);
  return `0x${String(word).slice(-40)}`;
}

t.test('signing without sending', async (t) => {
  const staged = await stage(t);
  const { anvil, service, address, post } = staged;

  await t.test('the chain recovers the relayer from its messages and typed data', async (t) => {
    const message = await post('sign', { message: 'Grüße 😀' });
    t.equal(message.status, 200);
    t.strictSame(Object.keys(message.body.data), ['r', 's', 'v', 'sig']);
    t.equal(await recovered(anvil, hashMessage('Grüße 😀'), message.body.data), address);

    const domain = { name: 'Test', chainId: CHAIN_ID };
    const types = { Vote: [{ name: 'choice', type: 'uint256' }] };
    const vote = { choice: '340282366920938463463374607431768211456' };
    const whole = await post('sign-typed-data', { domain, types, primaryType: 'Vote', message: vote });
    t.equal(await recovered(anvil, TypedDataEncoder.hash(domain, types, vote), whole.body.data), address);
    const digests = await post('sign-typed-data', {
      domain_separator: TypedDataEncoder.hashDomain(domain),
      hash_struct_message: TypedDataEncoder.hashStruct('Vote', types, vote),
    });
    t.strictSame(digests.body, whole.body);
  });

  await t.test('a signed transaction is taken by the node as it is, and the relayer goes on undisturbed', async (t) => {
    const first = await sendAndMine(staged, { to: RECEIVER, value: 1, speed: 'fast' });
    t.equal(first.onChain.nonce, '0x0');
    const fees = { max_fee_per_gas: '5000000000', max_priority_fee_per_gas: 1 };
    const signed = await post('sign-transaction', { to: OTHER, value: '1000', nonce: '9', gas_limit: 30_000, ...fees });
    t.equal(signed.status, 200, JSON.stringify(signed.body));
    t.match(signed.body.data, { nonce: 9, chain_id: CHAIN_ID, from: address, gas_limit: 30_000, ...textual(fees) });
    const read = Transaction.from(signed.body.data.transaction);
    t.match(read, { type: 2, nonce: 9, hash: signed.body.data.hash, chainId: BigInt(CHAIN_ID) });
    const second = await sendAndMine(staged, { to: RECEIVER, value: 1, speed: 'fast' });
    t.equal(second.onChain.nonce, '0x1', 'the lane knows nothing of nonce 9');

    const next = await post('sign-transaction', { to: OTHER, value: '1000', nonce: 2, gas_limit: 30_000, ...fees });
    const hash = await anvil.rpc('eth_sendRawTransaction', [next.body.data.transaction]);
    t.equal(hash, next.body.data.hash);
    // The node mines it a moment later.
    const balance = () => anvil.rpc('eth_getBalance', [OTHER, 'latest']);
    t.equal(await eventually(balance, (wei) => wei === '0x3e8', WITHIN_MS), '0x3e8');
  });

  await t.test('bad bodies are 400 with a reason, and nothing is signed for a relayer that is paused', async (t) => {
    const good = 'ab'.repeat(32);
    for (const [path, body, said] of [
      ['sign', {}, 'missing field `message`'],
      [
        'sign-typed-data',
        { domain_separator: good, hash_struct_message: '0xab' },
        'Failed to sign transaction: Invalid hash struct length: expected 32 bytes, got 1',
      ],
      ['sign-transaction', {}, 'missing field `nonce`'],
      ['sign-transaction', { to: OTHER, value: 0, nonce: 0, gas_limit: 21_000, speed: 'fast' }, /^`speed` needs/],
    ] as const) {
      const { status, body: answer } = await post(path, body);
      t.equal(status, 400, path);
      t.match(answer, { success: false, data: null, error: said, message: 'Bad Request' });
    }
    await service.request('PATCH', RELAYER, { paused: true });
    for (const path of ['sign', 'sign-typed-data', 'sign-transaction']) {
      const { status, body } = await post(path, {});
      t.equal(status, 403, path);
      t.equal(body.message, 'Relayer paused');
    }
  });
});

t.test('kinds of transactions', async (t) => {
  const staged = await stage(t);
  const { anvil, stranger, post } = staged;
  const accessList = [{ address: OTHER, storageKeys: [`0x${'00'.repeat(31)}01`] }];
  const shownList = [{ address: OTHER, storage_keys: [`0x${'00'.repeat(31)}01`] }];

  await t.test('an access list makes types 1 and 2, is paid for, and shows in answers', async (t) => {
    const legacy = { to: RECEIVER, value: 1, gas_price: 5_000_000_000, accessList };
    const ofType1 = await sendAndMine(staged, legacy);
    t.match(ofType1.onChain, { type: '0x1', accessList });
    t.strictSame(ofType1.shown.access_list, shownList);
    t.ok([0, 1].includes(ofType1.shown.signature.v));
    const receipt = (await anvil.rpc('eth_getTransactionReceipt', [ofType1.shown.hash])) as { gasUsed: string };
    t.equal(Number(receipt.gasUsed), 21_000 + 2_400 + 1_900, 'and the estimate has left room for it');
    const ofType2 = await sendAndMine(staged, { to: RECEIVER, value: 1, speed: 'fast', access_list: accessList });
    t.match(ofType2.onChain, { type: '0x2', accessList });
  });

  await t.test('an authorization list sets the code of its signers', async (t) => {
    const [first, second] = [stranger(), stranger()];
    const list = [first, second].map((wallet, index) => {
      const chainId = index === 0 ? 0 : CHAIN_ID;
      const { r, s, yParity } = wallet.authorizeSync({ address: OTHER, nonce: 0, chainId }).signature;
      return { chain_id: chainId, address: OTHER, nonce: 0, y_parity: yParity, r, s };
    });
    const sent = await sendAndMine(staged, { to: RECEIVER, value: 1, speed: 'fast', authorization_list: list });
    t.equal(sent.onChain.type, '0x4');
    t.strictSame(sent.shown.authorization_list, list);
    for (const wallet of [first, second]) {
      const code = await anvil.rpc('eth_getCode', [wallet.address, 'latest']);
      t.equal(code, `0xef0100${OTHER.slice(2)}`);
    }
  });

  await t.test('what could do nothing or harm is refused at once', async (t) => {
    const { r, s, yParity } = stranger().authorizeSync({ address: OTHER, nonce: 0, chainId: 1 }).signature;
    const foreign = { chain_id: 1, address: OTHER, nonce: 0, y_parity: yParity, r, s };
    for (const [more, said] of [
      [{ authorization_list: [foreign] }, 'authorization_list.0 is for chain 1, and the relayer sends on chain 31337'],
      [{ blob_versioned_hashes: [`0x01${'00'.repeat(31)}`] }, /: blob transactions \(EIP-4844\) are not supported$/],
    ] as const) {
      const { status, body } = await post('transactions', { to: RECEIVER, value: 1, speed: 'fast', ...more });
      t.equal(status, 400);
      t.match(body.error, said);
    }
  });
});

t.test('policies hold for what is only signed', async (t) => {
  const policies = { whitelist_receivers: [RECEIVER], gas_price_cap: 5 };
  const { address, post } = await stage(t, { policies });
  const body = { value: 1, nonce: 0, gas_limit: 21_000, gas_price: 5 };
  t.equal((await post('sign-transaction', { ...body, to: RECEIVER })).status, 200);
  t.equal((await post('sign-transaction', { ...body, to: address })).status, 200);
  for (const [more, said] of [
    [{ to: OTHER }, 'Transaction target address is not whitelisted'],
    [{ to: RECEIVER, gas_price: 6 }, 'Gas price is too high: gas_price 6 exceeds gas price cap 5'],
    [{ data: '0x00' }, 'Transaction target address is not whitelisted'],
  ] as const) {
    const answer = await post('sign-transaction', { ...body, ...more });
    t.equal(answer.status, 400);
    t.equal(answer.body.error, said);
  }
});

function textual(fees: object): Record<string, string> {
  return Object.fromEntries(Object.entries(fees).map(([name, fee]) => [name, String(fee)]));
}
