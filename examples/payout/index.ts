import { type PluginContext, pluginError } from 'isolayer';

interface Row {
  to: string;
  value: string;
}

/**
 * Pays a list. All rows are checked before the first is paid. A run that is stopped in the middle, and called again with
 * the same `Idempotency-Key`, goes on where it was: each payment is an effect of the call, and happens once.
 */
export async function handler({ api, params, config }: PluginContext) {
  const { relayer } = config as { relayer: string };
  const rows = checkedRows((params as { rows?: unknown } | null)?.rows);
  const account = api.useRelayer(relayer);
  const paid: string[] = [];
  const refused: { row: number; reason: string }[] = [];
  for (const [row, { to, value }] of rows.entries()) {
    try {
      // Resolves when the service has accepted the payment: from then on it is the service that sees it through.
      const { id } = await account.sendTransaction({ to, value, gas_limit: 21_000, speed: 'average' });
      paid.push(id);
    } catch (error) {
      refused.push({ row, reason: error instanceof Error ? error.message : String(error) });
    }
  }
  console.info(`${paid.length} of ${rows.length} accepted`);
  return { paid, refused };
}

function checkedRows(given: unknown): Row[] {
  const rows = Array.isArray(given) ? (given as Partial<Row>[]) : [];
  const isRow = ({ to, value }: Partial<Row>) =>
    typeof to === 'string' &&
    /^0x[0-9a-fA-F]{40}$/.test(to) &&
    typeof value === 'string' &&
    /^[1-9]\d{0,30}$/.test(value);
  const wrong = rows.flatMap((row, index) => (isRow(row) ? [] : [index]));
  if (rows.length === 0 || wrong.length > 0) {
    const details = { field: 'rows', wrong };
    throw pluginError('rows are { to, value }: an address, and wei as digits', {
      code: 'INVALID_ROWS',
      status: 400,
      details,
    });
  }
  return rows as Row[];
}
