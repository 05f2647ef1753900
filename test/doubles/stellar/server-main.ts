/** The process of a counterpart for Stellar. Its arithmetic runs here, so tests do not wait for it. */
import { answerCommands } from '../counterpart/commands.ts';
import { Faults } from '../counterpart/faults.ts';
import { type Addresses, type Command, type OnChain, STELLAR_DEFAULTS, type StellarOptions } from './control.ts';
import { HorizonServer } from './horizon/horizon-server.ts';
import { archive, makeAssetContract, makeContract } from './node/arrangement.ts';
import type { Landed } from './node/closed-ledger.ts';
import { Network } from './node/network.ts';
import { RpcServer } from './rpc/rpc-server.ts';
import { View } from './rpc/view.ts';

const options: Required<StellarOptions> = {
  ...STELLAR_DEFAULTS,
  ...(JSON.parse(process.argv[2] ?? '{}') as StellarOptions),
};
const network = new Network({
  passphrase: options.passphrase,
  baseFee: 100n,
  baseReserve: 5_000_000n,
  firstLedger: options.firstLedger,
  maxOperations: options.maxOperations,
  maxSoroban: options.maxSoroban,
});

interface Endpoint {
  readonly view: View;
  readonly faults: Faults;
  readonly calls: Map<string, number>;
}

const endpoints: Endpoint[] = [];
let timer: NodeJS.Timeout | undefined;

function resume(): void {
  clearInterval(timer);
  if (options.ledgerMs > 0) timer = setInterval(() => network.tick(), options.ledgerMs);
}

function endpoint(place: number): Endpoint {
  const found = endpoints[place];
  if (found === undefined) throw new Error(`There is no endpoint ${place}.`);
  return found;
}

async function open(behind: number): Promise<Addresses> {
  const view = new View(network, network.join(behind), options);
  const [faults, calls] = [new Faults(), new Map<string, number>()];
  endpoints.push({ view, faults, calls });
  const count = (name: string) => calls.set(name, (calls.get(name) ?? 0) + 1);
  const [rpc, horizon] = [new RpcServer(view, faults, count), new HorizonServer(view, faults, count)];
  return { url: await rpc.listen(), horizonUrl: await horizon.listen() };
}

function perform(command: Command): unknown {
  switch (command.kind) {
    case 'fund':
      return network.ledger.fund(command.account, command.stroops);
    case 'asset-contract':
      return makeAssetContract(network.ledger, command.asset);
    case 'contract':
      return makeContract(network.ledger, command.contract, command.args);
    case 'archive':
      return archive(network.ledger, command.key);
    case 'pause':
      return clearInterval(timer);
    case 'resume':
      return resume();
    case 'tick':
      for (let count = 0; count < command.ledgers; count += 1) network.tick();
      return network.ledger.latest.sequence;
    case 'travel':
      return network.travel(BigInt(command.seconds));
    case 'drop':
      return network.dropNext(command.count);
    case 'delay':
      return network.landLater(command.ledgers);
    case 'drop-sets':
      return network.dropSets(command.ledgers);
    case 'crowd':
      network.crowd = { operations: command.operations, bid: command.bid };
      return undefined;
    case 'reset':
      return network.reset();
    case 'landed':
      return [...new Set(network.ledger.landed.values())].map(onChain);
    case 'taken-in':
      return network.takenIn;
    case 'open':
      return open(command.behind);
    default:
      return performAt(endpoint(command.endpoint), command);
  }
}

const onChain = ({ frame, ledger, feeCharged, isSuccessful, result }: Landed): OnChain => ({
  hash: frame.hash,
  envelope: frame.envelope.toXdr('base64'),
  innerHash: frame.inner.hash,
  ledger: ledger.sequence,
  source: frame.source,
  sequence: frame.sequence,
  feeSource: frame.feeSource,
  feeCharged,
  code: result.result.type,
  isSuccessful,
});

function performAt({ view, faults, calls }: Endpoint, command: Extract<Command, { endpoint: number }>): unknown {
  switch (command.kind) {
    case 'behind':
      view.node.behind = command.ledgers;
      return view.node.observe();
    case 'illness':
      view.illness = command.illness;
      return undefined;
    case 'passphrase':
      view.passphrase = command.passphrase;
      return undefined;
    case 'prune':
      return view.prune();
    case 'fault':
      return faults.add(command.fault);
    case 'clear-faults':
      return faults.clear();
    case 'offers':
      return view.offers;
    case 'calls':
      return calls;
    default:
      return command satisfies never;
  }
}

resume();
answerCommands(perform);
