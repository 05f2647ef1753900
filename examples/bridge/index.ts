import { Interface } from 'ethers';
import { type PluginContext, pluginError } from 'isolayer';

interface Settings {
  /** Relayers: on the chain that burns, and on the one that mints. */
  from: string;
  to: string;
  /** Contracts: the one that burns, and the one that mints. */
  burner: string;
  minter: string;
  /** `<attestations>/<hash of the burn>` answers `{ status, message, attestation }`. */
  attestations: string;
  /** How long to wait between two looks at the attestation. Default: 60. */
  poll_seconds?: number;
}

const HOUR_MS = 3_600_000;
const burner = new Interface(['function burn(uint256 amount, address receiver, bytes32 salt)']);
const minter = new Interface(['function mint(bytes message, bytes attestation)']);

/**
 * Burns on one chain, waits for the attestation, and mints on the other. That may take a day, and the service may be
 * restarted or killed meanwhile: the call is durable, so it goes on where it was, with the same salt.
 */
export async function handler({ api, params, config }: PluginContext) {
  const settings = config as Settings;
  const { amount, receiver } = (params ?? {}) as { amount?: unknown; receiver?: unknown };
  if (typeof amount !== 'string' || !/^[1-9]\d{0,60}$/.test(amount)) throw invalid('amount', 'digits in quotes');
  if (typeof receiver !== 'string' || !/^0x[0-9a-fA-F]{40}$/.test(receiver)) throw invalid('receiver', 'an address');

  const salt = `0x${crypto.randomUUID().replaceAll('-', '').padStart(64, '0')}`;
  const burn = await confirmed(api, settings.from, {
    to: settings.burner,
    data: burner.encodeFunctionData('burn', [amount, receiver, salt]),
  });
  console.info(`burned in ${burn}`);
  const { message, attestation } = await attested(api, settings, burn);
  const mint = await confirmed(api, settings.to, {
    to: settings.minter,
    data: minter.encodeFunctionData('mint', [message, attestation]),
  });
  return { burn, mint };
}

/** Sends a transaction; resolves with its hash once it is final. */
async function confirmed(api: PluginContext['api'], relayer: string, request: { to: string; data: string }) {
  const sent = await api.useRelayer(relayer).sendTransaction({ ...request, value: 0, speed: 'average' });
  // A mined transaction can still be undone, and what was minted for it cannot.
  const { status, hash, status_reason: reason } = await sent.wait({ until: 'confirmed', timeout: 24 * HOUR_MS });
  if (status === 'confirmed' && typeof hash === 'string') return hash;
  const details = { relayer, id: sent.id, reason };
  throw pluginError(`transaction ${sent.id} is ${status}`, { code: 'NOT_CONFIRMED', status: 422, details });
}

interface Attested {
  status: string;
  message: string;
  attestation: string;
}

async function attested(api: PluginContext['api'], { attestations, poll_seconds = 60 }: Settings, burn: string) {
  for (;;) {
    // An API that is out of order for an hour costs an hour, not the money.
    const answer = await fetch(`${attestations}/${burn}`).catch(() => undefined);
    const known = answer?.ok === true ? ((await answer.json()) as Attested) : undefined;
    if (known?.status === 'complete') return known;
    await api.sleep(poll_seconds * 1000);
  }
}

function invalid(field: string, what: string) {
  return pluginError(`${field} has to be ${what}`, { code: 'INVALID_PARAMS', status: 400, details: { field } });
}
