import { Connection, Keypair, LAMPORTS_PER_SOL, SystemProgram, Transaction } from '@solana/web3.js';
import { startSvm } from '../../test/doubles/svm/svm.ts';
import { startService } from '../../test/support/service.ts';
import { createWorkspace } from '../../test/support/workspace.ts';
import type { Narrator } from './narrator.ts';
import { type CleanUp, callPlugin, tellCourse } from './stage.ts';

const PLUGIN = 'sponsor';
const SOL = BigInt(LAMPORTS_PER_SOL);

/** Sends the transaction that a user signed. The user needs no SOL for the fee. */
const SOURCE = `import type { PluginContext } from '@openzeppelin/relayer-sdk';

export async function handler({ api, params }: PluginContext) {
  const { relayerId, transaction } = params as { relayerId: string; transaction: string };
  const sent = await api.useRelayer(relayerId).sendTransaction({ transaction });
  console.info(\`accepted as \${sent.id}\`);
  const ended = await sent.wait({ interval: 500, timeout: 30_000 });
  return { id: ended.id, signature: ended.signature, status: ended.status };
}
`;

/**
 * Shows a plugin that sponsors a user's transfer on a local Solana. The user signs the transfer, and the relayer pays
 * the fee.
 */
export async function solanaDemo(say: Narrator, cleanUp: CleanUp, isWatched: boolean): Promise<undefined> {
  const svm = await startSvm();
  cleanUp(() => svm.stop());
  say.step('chain', `Solana's virtual machine answers at ${svm.url}`);

  const workspace = await createWorkspace({
    rpcUrl: svm.url,
    relayer: { network_type: 'solana', policies: { fee_payment_strategy: 'relayer' } },
    network: { type: 'solana' },
    plugins: [{ id: PLUGIN, path: `${PLUGIN}.ts`, emit_logs: true, emit_traces: true }],
    pluginFiles: { [`${PLUGIN}.ts`]: SOURCE },
  });
  cleanUp(() => workspace.remove());
  const relayer = Keypair.fromSeed(Buffer.from(workspace.privateKey.slice(2), 'hex')).publicKey;
  await svm.airdrop(relayer.toBase58(), SOL);
  say.step('keystore', `made on the spot for account ${relayer.toBase58()}, funded with 1 SOL`);
  say.step('plugin', `plugins/${PLUGIN}.ts dropped in`);

  const service = await startService(workspace.env, undefined, isWatched ? 'inherit' : 'pipe');
  cleanUp(() => service.stop());
  say.step('server', `ready at ${service.url}, relayer local-1`);

  const [user, receiver] = [Keypair.generate(), Keypair.generate().publicKey];
  await svm.airdrop(user.publicKey.toBase58(), SOL / 2n);
  const connection = new Connection(svm.url, 'confirmed');
  const lamports = Number(SOL / 2n);
  const transfer = SystemProgram.transfer({ fromPubkey: user.publicKey, toPubkey: receiver, lamports });
  const unsigned = new Transaction({ feePayer: relayer, ...(await connection.getLatestBlockhash()) }).add(transfer);
  unsigned.partialSign(user);
  const transaction = unsigned.serialize({ requireAllSignatures: false }).toString('base64');
  say.step('user', `${user.publicKey.toBase58()} has signed away all of its 0.5 SOL, and has nothing for a fee`);

  const { data, metadata } = await callPlugin(say, service, PLUGIN, { relayerId: 'local-1', transaction });
  const { value } = await connection.getSignatureStatus(String(data['signature']));
  say.step('landed', `transaction ${String(data['signature'])}`);
  say.detail(`slot ${value?.slot}, ${value?.confirmationStatus}, error ${JSON.stringify(value?.err)}`);
  say.detail(`the receiver has ${(await connection.getBalance(receiver)) / LAMPORTS_PER_SOL} SOL`);
  say.detail(`the relayer paid ${Number(SOL) - (await connection.getBalance(relayer))} lamports`);
  tellCourse(say, metadata);
}
