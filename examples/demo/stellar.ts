import { Asset, Keypair, Operation, rpc, TransactionBuilder } from '@stellar/stellar-sdk';
import { startStellar } from '../../test/doubles/stellar/stellar-net.ts';
import { startService } from '../../test/support/service.ts';
import { createWorkspace } from '../../test/support/workspace.ts';
import type { Narrator } from './narrator.ts';
import { type CleanUp, callPlugin, tellCourse } from './stage.ts';

const PLUGIN = 'sponsor';
const XLM = 10_000_000n;
/** The amount that an account must keep: two base reserves. */
const RESERVE = XLM;

/** Wraps the transaction that a user signed in a fee bump, and sends it. The user needs no XLM for the fee. */
const SOURCE = `import type { PluginContext } from '@openzeppelin/relayer-sdk';

export async function handler({ api, params }: PluginContext) {
  const { relayerId, transaction } = params as { relayerId: string; transaction: string };
  const body = { network: 'testnet', transaction_xdr: transaction, fee_bump: true, max_fee: 1_000 };
  const sent = await api.useRelayer(relayerId).sendTransaction(body);
  console.info(\`accepted as \${sent.id}\`);
  const ended = await sent.wait({ interval: 500, timeout: 30_000 });
  return { id: ended.id, hash: ended.hash, fee: ended.fee, status: ended.status };
}
`;

/**
 * Shows a plugin that sponsors a user's payment on a Stellar network. The user signs the payment, and the relayer pays
 * the fee.
 */
export async function stellarDemo(say: Narrator, cleanUp: CleanUp, isWatched: boolean): Promise<undefined> {
  const net = await startStellar({ ledgerMs: 1_000 });
  cleanUp(() => net.stop());
  say.step('chain', `a network that judges as Stellar does answers at ${net.url}`);

  const workspace = await createWorkspace({
    rpcUrl: net.url,
    relayer: { network_type: 'stellar', policies: { fee_payment_strategy: 'relayer' } },
    network: { type: 'stellar', passphrase: net.passphrase },
    plugins: [{ id: PLUGIN, path: `${PLUGIN}.ts`, emit_logs: true, emit_traces: true }],
    pluginFiles: { [`${PLUGIN}.ts`]: SOURCE },
  });
  cleanUp(() => workspace.remove());
  const relayer = Keypair.fromRawEd25519Seed(Buffer.from(workspace.privateKey.slice(2), 'hex')).publicKey();
  await net.fund(relayer, 10n * XLM);
  say.step('keystore', `made on the spot for account ${relayer}, funded with 10 XLM`);
  say.step('plugin', `plugins/${PLUGIN}.ts dropped in`);

  const service = await startService(workspace.env, undefined, isWatched ? 'inherit' : 'pipe');
  cleanUp(() => service.stop());
  say.step('server', `ready at ${service.url}, relayer local-1`);

  const [user, receiver] = [Keypair.random(), Keypair.random().publicKey()];
  await net.fund(user.publicKey(), RESERVE + 5n * XLM);
  await net.fund(receiver, RESERVE);
  const node = new rpc.Server(net.url, { allowHttp: true });
  const account = await node.getAccount(user.publicKey());
  const payment = new TransactionBuilder(account, { fee: '100', networkPassphrase: net.passphrase })
    .addOperation(Operation.payment({ destination: receiver, asset: Asset.native(), amount: '5' }))
    .setTimeout(60)
    .build();
  payment.sign(user);
  say.step('user', `${user.publicKey()} has signed away all that it may spend, 5 XLM, and has nothing for a fee`);

  const params = { relayerId: 'local-1', transaction: payment.toXdr() };
  const { data, metadata } = await callPlugin(say, service, PLUGIN, params);
  const landed = await node.getTransaction(String(data['hash']));
  const balanceOf = async (key: string) => (await node.getAccountEntry(key)).balance;
  say.step('landed', `transaction ${String(data['hash'])}`);
  say.detail(`ledger ${'ledger' in landed ? landed.ledger : ''}, ${landed.status}`);
  say.detail(`the receiver has ${(await balanceOf(receiver)) - RESERVE} stroops more`);
  say.detail(`the relayer paid ${10n * XLM - (await balanceOf(relayer))} stroops`);
  tellCourse(say, metadata);
}
