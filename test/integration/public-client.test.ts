/**
 * The reference's public client reads, changes, signs and pays with an EVM relayer. ethers checks the results.
 * `transaction-intents.test.ts` covers transactions that are under way.
 */
import {
  Configuration,
  RelayerNetworkType,
  RelayersApi,
  type SignerCreateRequest,
  SignersApi,
  Speed,
} from '@openzeppelin/relayer-sdk';
import { getAddress, recoverAddress, Transaction, TypedDataEncoder, verifyMessage, Wallet } from 'ethers';
import t from 'tap';
import { lifecycleStage, OTHER, RECEIVER, TRANSFER } from '../support/lifecycle-stage.ts';

/** The signature in the client's answer, without `0x`. */
function sigOf(answer: object): string {
  const { data } = answer as { data?: { sig?: string } };
  return String(data?.sig).replace(/^0x/, '');
}

t.test('the public client reads, changes, signs through and pays with a relayer', async (t) => {
  const stage = await lifecycleStage(t);
  const { url, apiKey } = stage.service;
  const relayers = new RelayersApi(new Configuration({ basePath: url, accessToken: apiKey }));

  const { data: shown } = await relayers.getRelayer('local-1');
  t.match(shown, { success: true, data: { id: 'local-1', network_type: 'evm', address: stage.address } });
  t.match((await relayers.listRelayers(1, 10)).data, { data: [{ id: 'local-1' }], pagination: { total_items: 1 } });
  t.match((await relayers.getRelayerBalance('local-1')).data.data, { balance: 10n ** 20n, unit: 'wei' });
  t.match((await relayers.getRelayerStatus('local-1')).data.data, { network_type: 'evm', paused: false, nonce: '0' });

  const renamed = await relayers.updateRelayer('local-1', { name: 'Renamed', paused: true });
  t.match(renamed.data.data, { name: 'Renamed', paused: true });
  const refused = await relayers
    .sendTransaction('local-1', { ...TRANSFER, speed: Speed.FAST })
    .catch(({ response }) => response);
  t.equal(refused.status, 403, 'a paused relayer sends nothing');
  await relayers.updateRelayer('local-1', { paused: false });

  const message = await relayers.sign('local-1', { message: 'hello' });
  t.equal(verifyMessage('hello', `0x${sigOf(message.data)}`).toLowerCase(), stage.address);
  const domain = { name: 'Isolayer', chainId: 31_337 };
  const types = { Vote: [{ name: 'yes', type: 'bool' }] };
  const typed = await relayers.signTypedData('local-1', {
    domain_separator: TypedDataEncoder.hashDomain(domain),
    hash_struct_message: TypedDataEncoder.hashStruct('Vote', types, { yes: true }),
  });
  const digest = TypedDataEncoder.hash(domain, types, { yes: true });
  t.equal(recoverAddress(digest, `0x${sigOf(typed.data)}`).toLowerCase(), stage.address);

  const fees = { max_fee_per_gas: 2_000_000_000, max_priority_fee_per_gas: 1_000_000_000 };
  const unsent = { ...TRANSFER, nonce: 5, ...fees, speed: undefined };
  const offline = await relayers.signTransaction('local-1', unsent as never);
  const { transaction } = (offline.data.data ?? {}) as { transaction?: string };
  const bytes = Transaction.from(String(transaction));
  t.match(bytes, { nonce: 5, to: getAddress(RECEIVER), value: 7n, chainId: 31_337n }, 'signed bytes, not sent');
  t.equal(bytes.from?.toLowerCase(), stage.address);

  const rpc = await relayers.rpc('local-1', { jsonrpc: '2.0', id: 1, method: 'eth_chainId', params: [] });
  t.match(rpc.data, { jsonrpc: '2.0', id: 1, result: '0x7a69' });

  const sent = await relayers.sendTransaction('local-1', { ...TRANSFER, speed: Speed.FAST });
  const id = String(sent.data.data?.id);
  await stage.untilPooled(id);
  await stage.mineUntil(id, 'confirmed');
  t.match((await relayers.getTransactionById('local-1', id)).data.data, { id, status: 'confirmed', to: RECEIVER });
  t.equal(await stage.balance(RECEIVER), 7n);

  await t.test('a relayer that is made pays without a restart, and goes when that is over', async (t) => {
    const signers = new SignersApi(new Configuration({ basePath: url, accessToken: apiKey }));
    const wallet = Wallet.createRandom();
    const key = wallet.privateKey.slice(2);
    await stage.anvil.rpc('anvil_setBalance', [wallet.address, '0x56bc75e2d63100000']);
    await signers.createSigner({ id: 'new-key', type: 'plain', config: { key } } as SignerCreateRequest);
    const form = {
      name: 'New',
      network: 'local',
      network_type: RelayerNetworkType.EVM,
      paused: false,
      signer_id: 'new-key',
    };
    const created = await relayers.createRelayer({ ...form, id: 'new' });
    t.match([created.status, created.data.data], [201, { id: 'new', address: wallet.address.toLowerCase() }]);
    const taken = await relayers.createRelayer({ ...form, id: 'second' }).catch(({ response }) => response);
    t.match([taken.status, taken.data], [400, { error: /is already in use by relayer 'new'/ }]);

    const paid = await relayers.sendTransaction('new', { ...TRANSFER, to: OTHER, speed: Speed.FAST });
    const paidId = String(paid.data.data?.id);
    const busy = await relayers.deleteRelayer('new').catch(({ response }) => response);
    t.match([busy.status, busy.data], [409, { message: 'Relayer is in use' }]);
    const inUse = await signers.deleteSigner('new-key').catch(({ response }) => response);
    t.match([inUse.status, inUse.data], [409, { error: /used by 1 relayer\(s\): new/ }]);
    for (;;) {
      const { status } = (await relayers.getTransactionById('new', paidId)).data.data as { status: string };
      if (status === 'confirmed') break;
      await stage.anvil.rpc('evm_mine', []);
      await new Promise((resolve) => setTimeout(resolve, 20));
    }
    t.equal(await stage.balance(OTHER), 7n);
    t.match((await relayers.deleteRelayer('new')).data, { success: true, data: 'Relayer deleted successfully' });
    const gone = await relayers.getTransactionById('new', paidId).catch(({ response }) => response);
    t.equal(gone.status, 404);
    t.match((await signers.deleteSigner('new-key')).data, { success: true });
    t.notMatch(stage.service.output(), key);
  });
});
