/** Transactions through the whole service on a real node, over HTTP and through a plugin. */
import { AbiCoder, JsonRpcProvider } from 'ethers';
import t from 'tap';
import { startAnvil } from '../support/anvil.ts';
import { composeService } from '../support/composed-service.ts';
import type { AnswerBody } from '../support/service.ts';
import { createWorkspace } from '../support/workspace.ts';

const RECEIVER = '0x70997970c51812dc3a010c7d01b50e0d17dc79c8';
const REFUSING = '0x00000000000000000000000000000000000ef05e';
const OTHER = '0x3c44cdddb6a900fa2b585dd299e03d12fa4293bc';
const TRANSFER = { to: RECEIVER, value: '1000', data: '0x', gas_limit: 21_000, speed: 'fast' };

const PAY = `import { type PluginContext, pluginError } from '@openzeppelin/relayer-sdk';

export async function handler({ api, params }: PluginContext) {
  const { relayerId, to, value } = params as Record<'relayerId' | 'to' | 'value', string>;
  console.log(\`sending \${value} wei to \${to} through \${relayerId}\`);
  const sent = await api.useRelayer(relayerId).sendTransaction({ to, value, data: '0x', speed: 'fast' });
  const { id, hash, status, nonce, status_reason } = await sent.wait({ interval: 500, timeout: 60_000 });
  if (status === 'failed') {
    throw pluginError(\`the transfer ended as failed: \${status_reason}\`, {
      code: 'TRANSFER_FAILED',
      status: 502,
      details: { id },
    });
  }
  return { id, hash, status, nonce };
}`;

const PASSES_ON = `export async function handler({ api, params }) {
  return api.useRelayer('local-1').sendTransaction(params);
}`;

const CAP = 2_000_000_000;
/** By relayer id: the fields in which the relayers differ. Each relayer has its own account. */
const RELAYERS: Record<string, object> = {
  'local-1': {},
  many: {},
  paused: { paused: true },
  listed: { policies: { whitelist_receivers: [OTHER] } },
  reserve: { policies: { min_balance: 9 * 10 ** 14 } },
  capped: { policies: { gas_price_cap: CAP } },
};
const ids = Object.keys(RELAYERS);
const signerOf = (at: number) => (at === 0 ? 'local-key' : `local-key-${at + 1}`);

const anvil = await startAnvil();
t.teardown(() => anvil.stop());
const node = new JsonRpcProvider(anvil.url, undefined, { staticNetwork: true, cacheTimeout: -1 });
t.teardown(() => node.destroy());
const workspace = await createWorkspace({
  rpcUrl: anvil.url,
  accounts: ids.length,
  config: {
    relayers: ids.map((id, at) => ({
      id,
      name: id,
      network: 'local',
      network_type: 'evm',
      signer_id: signerOf(at),
      paused: false,
      ...RELAYERS[id],
    })),
  },
  plugins: [{ id: 'pay', path: 'pay.ts', emit_logs: true, emit_traces: true }],
  pluginFiles: { 'pay.ts': PAY, 'passes-on.ts': PASSES_ON },
});
t.teardown(() => workspace.remove());
const addressOf = (relayer: string) => workspace.addresses[ids.indexOf(relayer)] ?? '';
for (const relayer of ids) {
  const balance = relayer === 'reserve' ? 10n ** 15n : 10n ** 18n;
  await node.send('anvil_setBalance', [addressOf(relayer), `0x${balance.toString(16)}`]);
}
const service = await composeService(workspace.env);
t.teardown(() => service.stop());

const transactionsOf = (relayer: string) => `/api/v1/relayers/${relayer}/transactions`;
const transactions = transactionsOf('local-1');

async function until(
  id: string,
  statuses: readonly string[],
  { relayer = 'local-1', reason = /(?:)/ } = {},
): Promise<AnswerBody> {
  for (let attempt = 0; attempt < 300; attempt++) {
    const { body } = await service.request('GET', `${transactionsOf(relayer)}/${id}`);
    if (statuses.includes(body.data.status) && reason.test(body.data.status_reason ?? '')) return body.data;
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
  throw new Error(`transaction ${id} became none of ${statuses.join(', ')}`);
}

t.test('sent over HTTP, mined, confirmed', async (t) => {
  const before = await node.getBalance(RECEIVER);
  const accepted = await service.request('POST', transactions, TRANSFER);
  t.equal(accepted.status, 200);
  t.match(accepted.body, {
    success: true,
    error: null,
    data: { status: 'pending', from: addressOf('local-1'), nonce: null },
  });

  const mined = await until(accepted.body.data.id, ['mined', 'confirmed']);
  t.equal(mined.nonce, 0);
  t.equal((await node.getBalance(RECEIVER)) - before, 1000n, 'paid once');
  const receipt = await node.getTransactionReceipt(mined.hash);
  t.equal(receipt?.status, 1);
  await node.send('anvil_mine', ['0x2']);
  const confirmed = await until(accepted.body.data.id, ['confirmed']);
  t.ok(confirmed.confirmed_at);

  const list = await service.request('GET', transactions);
  t.same(list.body.pagination, { current_page: 1, per_page: 10, total_items: 1 });
  t.equal((await service.request('GET', `${transactions}/not-there`)).status, 404);
  t.equal((await service.request('POST', '/api/v1/relayers/nobody/transactions', TRANSFER)).status, 404);
});

t.test('sent by a plugin, with its logs and traces', async (t) => {
  const misspelt = { ...TRANSFER, gas_limit: undefined, gasLimit: 21_000 };
  const byPlugin = await service.call('passes-on', misspelt);
  t.match(byPlugin.body.error, 'Relayer error: Bad Request: unknown field `gasLimit`, did you mean `gas_limit`?');
  const overHttp = await service.request('POST', transactions, misspelt);
  t.same(
    [overHttp.status, overHttp.body.message, overHttp.body.error],
    [400, 'Bad Request', 'unknown field `gasLimit`, did you mean `gas_limit`?'],
  );
  t.equal(await node.getTransactionCount(addressOf('local-1'), 'pending'), 1, 'no money moved by either way');
  const answer = await service.call('pay', { relayerId: 'local-1', to: RECEIVER, value: '5' });
  t.equal(answer.status, 200, JSON.stringify(answer.body));
  t.match(answer.body.data, { status: /mined|confirmed/, nonce: 1, hash: /^0x[0-9a-f]{64}$/ });
  t.equal((await node.getTransactionReceipt(answer.body.data.hash))?.status, 1);
  t.match(answer.body.metadata.logs[0], { level: 'log', message: `sending 5 wei to ${RECEIVER} through local-1` });
  t.match(answer.body.metadata.traces[0], { method: 'sendTransaction', relayerId: 'local-1', requestId: String });

  const unknown = await service.call('pay', { relayerId: 'nobody', to: RECEIVER, value: '5' });
  t.equal(unknown.body.error, 'Relayer error: Not Found: Relayer with ID nobody not found');
});

t.test('a contract that refuses the money is an error of the plugin that pays it, with what it says', async (t) => {
  // Reverts with Error("no thanks").
  const says = AbiCoder.defaultAbiCoder().encode(['string'], ['no thanks']).slice(2);
  const data = `08c379a0${says}`;
  const size = (data.length / 2).toString(16).padStart(2, '0');
  await node.send('anvil_setCode', [REFUSING, `0x60${size}600a5f3960${size}5ffd${data}`]);
  const answer = await service.call('pay', { relayerId: 'local-1', to: REFUSING, value: '5' });
  t.equal(answer.status, 502);
  t.match(answer.body, {
    success: false,
    data: { code: 'TRANSFER_FAILED' },
    error: /ended as failed: .*Error\("no thanks"\)/,
  });
  const { id } = answer.body.data.details;
  const seen = (await service.request('GET', `${transactions}/${id}`)).body.data;
  t.match(seen, { status: 'mined', status_reason: /^Failed in its block, not final yet: .*Error\("no thanks"\)/ });
  await node.send('anvil_mine', ['0x2']);
  t.match(await until(id, ['failed']), { status_reason: /^Transaction reverted .*Error\("no thanks"\)/ });
});

t.test('twenty at once: each paid once, nonces without a gap', async (t) => {
  const before = await node.getBalance(RECEIVER);
  const send = () => service.request('POST', transactionsOf('many'), TRANSFER);
  const accepted = await Promise.all(Array.from({ length: 20 }, send));
  const mined = await Promise.all(
    accepted.map(({ body }) => until(body.data.id, ['mined', 'confirmed'], { relayer: 'many' })),
  );
  t.same(
    mined.map((transaction) => transaction.nonce).sort((a, b) => a - b),
    Array.from({ length: 20 }, (_, nonce) => nonce),
  );
  t.equal((await node.getBalance(RECEIVER)) - before, 20_000n);
  t.equal(await node.getTransactionCount(addressOf('many')), 20);
});

t.test('the policy holds from the first send', async (t) => {
  const refused = await service.request('POST', transactionsOf('paused'), TRANSFER);
  t.same([refused.status, refused.body.error], [403, 'Relayer paused']);

  const stranger = await service.request('POST', transactionsOf('listed'), TRANSFER);
  t.same([stranger.status, stranger.body.message], [400, 'Bad Request']);
  t.equal(stranger.body.error, 'Transaction target address is not whitelisted');
  const friend = await service.request('POST', transactionsOf('listed'), { ...TRANSFER, to: OTHER });
  t.equal((await until(friend.body.data.id, ['mined', 'confirmed'], { relayer: 'listed' })).to, OTHER);

  const poor = await service.request('POST', transactionsOf('reserve'), { ...TRANSFER, value: String(10n ** 14n) });
  const reason = /^Insufficient balance: .*minimum balance of 900000000000000 \(checked again at 20/;
  const waiting = await until(poor.body.data.id, ['pending'], { relayer: 'reserve', reason });
  t.equal(waiting.nonce, null, 'no nonce is used');

  const tooMuch = { ...TRANSFER, speed: undefined, gas_price: 5 * CAP };
  const dear = await service.request('POST', transactionsOf('capped'), tooMuch);
  t.same(
    [dear.status, dear.body.error],
    [400, `Gas price is too high: gas_price ${5 * CAP} exceeds gas price cap ${CAP}`],
  );
  const cheap = await service.request('POST', transactionsOf('capped'), TRANSFER);
  const mined = await until(cheap.body.data.id, ['mined', 'confirmed'], { relayer: 'capped' });
  t.ok(BigInt(mined.max_fee_per_gas) <= BigInt(CAP), 'the fee stays below the cap');
});
