/**
 * The promise: tokens, wallets and markets on the tests' Stellar network behave as on Stellar: contracts of assets
 * (CAP-46-6), tokens (SEP-41), contract accounts, a fee forwarder and a router.
 */
import { createHash, randomBytes } from 'node:crypto';
import { Address, Asset, Keypair, Operation, rpc, scValToNative, xdr } from '@stellar/stellar-sdk';
import t from 'tap';
import { codeOf as wasmOf } from '../doubles/stellar/soroban/contracts/registry.ts';
import {
  address,
  i128,
  invoke,
  startContractScene,
  symbol,
  text,
  u32,
  vec,
  withAuth,
} from '../support/stellar-contract-scene.ts';
import { codeOf, LUMEN } from '../support/stellar-scene.ts';

const scene = await startContractScene();
t.teardown(() => scene.net.stop());
const { net, server, native, funded, signed, land, simulate, failureOf, prepared, authorized, asked } = scene;

const sha256 = (data: string | Uint8Array) => createHash('sha256').update(data).digest();
const transfer = (from: string, to: string, amount: bigint, token = native) =>
  invoke(token, 'transfer', address(from), address(to), i128(amount));

// CAP-46-2 for code and contracts, CAP-58 for constructors.
t.test('contracts are uploaded, made and built', async (t) => {
  const owner = await funded();
  t.equal(
    codeOf(await land(await prepared(owner, Operation.uploadContractWasm({ wasm: wasmOf('token') })))),
    'txSuccess',
  );
  const wasmHash = sha256(wasmOf('token'));
  const create = Operation.createCustomContract({
    address: Address.fromString(owner.publicKey()),
    wasmHash,
    salt: randomBytes(32),
    constructorArgs: [address(owner), u32(6), text('Coin'), text('COIN')],
  });
  const ready = await prepared(owner, create);
  t.equal(codeOf(await land(ready)), 'txSuccess');
  const told = await server.getTransaction(Buffer.from(ready.hash()).toString('hex'));
  const token = String(
    scValToNative('returnValue' in told && told.returnValue ? told.returnValue : xdr.ScVal.scvVoid()),
  );
  t.equal(await asked(token, 'decimals'), 6);
  t.equal(await asked(token, 'symbol'), 'COIN');
  const [holder, spender] = [await funded(), await funded()];
  await land(await prepared(owner, invoke(token, 'mint', address(holder), i128(500n))));
  const until = u32((await server.getLatestLedger()).sequence + 50);
  await land(await prepared(holder, invoke(token, 'approve', address(holder), address(spender), i128(200n), until)));
  const take = (amount: bigint) =>
    invoke(token, 'transfer_from', address(spender), address(holder), address(owner), i128(amount));
  t.equal(codeOf(await land(await prepared(spender, take(150n)))), 'txSuccess');
  t.match(await failureOf(spender, take(51n)), /Error\(Contract, #9\)/);
  t.equal(await asked(token, 'balance', address(holder)), 350n);
  t.equal(await asked(token, 'allowance', address(holder), address(spender)), 50n);
});

// CAP-46-6: ContractError codes.
t.test('an asset’s contract moves what accounts hold by trust lines', async (t) => {
  const [issuer, holder, to] = [await funded(), await funded(), await funded()];
  const usd = new Asset('USD', issuer.publicKey());
  await land(await signed(holder, [Operation.changeTrust({ asset: usd })]));
  await land(await signed(issuer, [Operation.payment({ destination: holder.publicKey(), asset: usd, amount: '9' })]));
  const made = await land(await prepared(issuer, Operation.createStellarAssetContract({ asset: usd })));
  t.equal(codeOf(made), 'txSuccess');
  const token = usd.contractId(net.passphrase);
  t.equal(await asked(token, 'name'), `USD:${issuer.publicKey()}`);
  t.equal(await asked(token, 'balance', address(holder)), 9n * LUMEN);
  const give = transfer(holder.publicKey(), to.publicKey(), LUMEN, token);
  t.match(await failureOf(holder, give), /Error\(Contract, #13\)/);
  await land(await signed(to, [Operation.changeTrust({ asset: usd })]));
  t.equal(codeOf(await land(await prepared(holder, give))), 'txSuccess');
  t.equal((await server.getTrustline(to.publicKey(), usd)).balance, LUMEN);
  const wallet = await net.contract('wallet', xdr.ScVal.scvBytes(to.rawPublicKey()));
  t.equal(codeOf(await land(await prepared(holder, transfer(holder.publicKey(), wallet, LUMEN, token)))), 'txSuccess');
  t.equal(await asked(token, 'balance', address(wallet)), LUMEN);
});

// CAP-46-11: __check_auth.
t.test('a contract may be the account that authorizes', async (t) => {
  const [relayer, key, to] = [await funded(), Keypair.random(), await funded()];
  const wallet = await net.contract('wallet', xdr.ScVal.scvBytes(key.rawPublicKey()));
  await land(await prepared(relayer, transfer(relayer.publicKey(), wallet, 5n * LUMEN)));
  const operation = transfer(wallet, to.publicKey(), LUMEN);
  const found = await simulate(relayer, operation);
  const [entry] = rpc.Api.isSimulationSuccess(found) ? (found.result?.auth ?? []) : [];
  if (entry?.credentials.type !== 'sorobanCredentialsAddressV2') return t.fail('no entry');
  const { address: at, nonce } = entry.credentials.addressV2;
  const signatureExpirationLedger = found.latestLedger + 50;
  const preimage = new xdr.HashIdPreimageSorobanAuthorization({
    networkId: sha256(net.passphrase),
    nonce,
    signatureExpirationLedger,
    invocation: entry.rootInvocation,
  });
  const payload = sha256(xdr.HashIdPreimage.envelopeTypeSorobanAuthorization(preimage).toXdr());
  const signedBy = (who: Keypair) =>
    new xdr.SorobanAuthorizationEntry({
      credentials: xdr.SorobanCredentials.sorobanCredentialsAddress(
        new xdr.SorobanAddressCredentials({
          address: at,
          nonce,
          signatureExpirationLedger,
          signature: xdr.ScVal.scvBytes(who.sign(payload)),
        }),
      ),
      rootInvocation: entry.rootInvocation,
    });
  t.match(await failureOf(relayer, withAuth(operation, [signedBy(relayer)])), /failed account authentication/);
  t.equal(codeOf(await land(await prepared(relayer, withAuth(operation, [signedBy(key)])))), 'txSuccess');
  t.equal(await asked(native, 'balance', address(wallet)), 4n * LUMEN);
});

// OpenZeppelin’s stellar-contracts: fee-abstraction, FeeAbstractionError::InvalidFeeBounds.
t.test('a forwarder takes its fee from the user who agreed to it', async (t) => {
  const [relayer, user, issuer] = [await funded(), await funded(), await funded()];
  const token = await net.contract('token', address(issuer), u32(7), text('T'), text('T'));
  await land(await prepared(issuer, invoke(token, 'mint', address(user), i128(1000n))));
  const [forwarder, probe] = [await net.contract('fee-forwarder'), await net.contract('probe')];
  const now = (await server.getLatestLedger()).sequence;
  const forward = (fee: bigint, expires = u32(now + 60)) =>
    invoke(
      forwarder,
      'forward',
      address(token),
      i128(fee),
      i128(120n),
      expires,
      address(probe),
      symbol('add'),
      vec(address(user), u32(5)),
      address(user),
      address(relayer),
    );
  t.equal(codeOf(await land(await authorized(relayer, user, forward(100n)))), 'txSuccess');
  t.equal(await asked(token, 'balance', address(relayer)), 100n);
  t.equal(await asked(probe, 'count'), 5);
  for (const fee of [121n, 0n, -1n]) t.match(await failureOf(relayer, forward(fee)), /Error\(Contract, #5003\)/);
  t.match(await failureOf(relayer, forward(100n, u32(now - 1))), /Error\(Contract, #9\)/, 'an approval that is over');
  t.match(await failureOf(relayer, withAuth(forward(100n), [])), /nothing/, 'without entries they are only noted');
  const unsigned = new xdr.SorobanAuthorizationEntry({
    credentials: xdr.SorobanCredentials.sorobanCredentialsSourceAccount(),
    rootInvocation: new xdr.SorobanAuthorizedInvocation({
      function: xdr.SorobanAuthorizedFunction.sorobanAuthorizedFunctionTypeContractFn(callIn(forward(100n))),
      subInvocations: [],
    }),
  });
  const alone = withAuth(forward(100n), [unsigned]);
  t.match(await failureOf(relayer, alone), /Unauthorized function call for address/, 'the user has to consent');
});

t.test('a router swaps at its price', async (t) => {
  const [owner, issuer] = [await funded(), await funded()];
  const token = await net.contract('token', address(issuer), u32(7), text('T'), text('T'));
  const router = await net.contract('router', address(token), address(native), i128(1n), i128(4n));
  await land(await prepared(issuer, invoke(token, 'mint', address(owner), i128(400n))));
  await land(await prepared(issuer, transfer(issuer.publicKey(), router, LUMEN)));
  const path = vec(address(token), address(native));
  t.same(await asked(router, 'router_get_amounts_out', i128(400n), path), [400n, 100n]);
  const swap = (least: bigint) =>
    invoke(
      router,
      'swap_exact_tokens_for_tokens',
      i128(400n),
      i128(least),
      path,
      address(owner),
      xdr.ScVal.scvU64(2n ** 40n),
    );
  t.match(await failureOf(owner, swap(101n)), /Error\(Contract, #507\)/);
  t.equal(codeOf(await land(await prepared(owner, swap(100n)))), 'txSuccess');
  t.equal(await asked(native, 'balance', address(router)), LUMEN - 100n);
});

// stellar-rpc: getEvents; CAP-67.
t.test('what contracts tell is found by who told it and of what', async (t) => {
  const [from, to] = [await funded(), await funded()];
  const start = (await server.getLatestLedger()).sequence;
  const first = await prepared(from, transfer(from.publicKey(), to.publicKey(), 3n));
  await land(first);
  await land(await prepared(from, transfer(from.publicKey(), to.publicKey(), 4n)));
  const [name, payer] = [symbol('transfer').toXdr('base64'), address(from).toXdr('base64')];
  const asked = (topics: string[][], limit = 100) =>
    server.getEvents({ startLedger: start, filters: [{ type: 'contract', contractIds: [native], topics }], limit });
  const all = await asked([[name, payer, '**']]);
  t.same(
    all.events.map(({ value }) => scValToNative(value)),
    [3n, 4n],
  );
  t.match(all.events[0], {
    txHash: Buffer.from(first.hash()).toString('hex'),
    operationIndex: 0,
    transactionIndex: 1,
    inSuccessfulContractCall: true,
    ledger: start + 1,
  });
  t.same((await asked([[name, payer, '*']])).events, [], 'a transfer has four topics');
  t.equal((await asked([[name, payer, '*', '*']])).events.length, 2);
  const fees = await asked([[symbol('fee').toXdr('base64'), payer]]);
  t.equal(fees.events.length, 4, 'two fees, and what was given back of each');
  const page = await asked([[name, payer, '**']], 1);
  const next = await server.getEvents({
    filters: [{ contractIds: [native], topics: [[name, '**']] }],
    cursor: page.cursor,
  });
  t.same(
    next.events.map(({ value }) => scValToNative(value)),
    [4n],
  );
  t.same((await server.getEvents({ filters: [], cursor: next.cursor })).events, []);
  await t.rejects(server.getEvents({ filters: [], startLedger: start + 100 }), { code: -32600 });
  await t.rejects(asked([['**', name]]), { message: /only allowed as the last segment/ });
  await t.rejects(server.getEvents({ filters: [], startLedger: start, limit: 10_001 }), { code: -32602 });
});

function callIn({ body }: xdr.Operation): xdr.InvokeContractArgs {
  const asked = body.type === 'invokeHostFunction' ? body.invokeHostFunctionOp.hostFunction : undefined;
  if (asked?.type !== 'hostFunctionTypeInvokeContract') throw new Error('a call of a contract');
  return asked.invokeContract;
}
