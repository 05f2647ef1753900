/** One value of a metric. */
export interface Sample {
  labels: Readonly<Record<string, string>>;
  value: number;
}

/** The service's metrics, by name. */
export type Figures = ReadonlyMap<string, readonly Sample[]>;

const LINE = /^([a-zA-Z_:][\w:]*)(?:\{(.*)\})? (\S+)/;
const LABEL = /(\w+)="((?:[^"\\]|\\.)*)"/g;
const ESCAPED: Readonly<Record<string, string>> = { '\\n': '\n', '\\"': '"', '\\\\': '\\' };

/** Parses the text format of Prometheus. */
export function parseFigures(text: string): Figures {
  const figures = new Map<string, Sample[]>();
  for (const line of text.split('\n')) {
    const [, name, labels = '', value] = LINE.exec(line) ?? [];
    if (name === undefined) continue;
    const samples = figures.get(name) ?? [];
    figures.set(name, samples);
    samples.push({ labels: labelsOf(labels), value: Number(value === '+Inf' ? 'Infinity' : value) });
  }
  return figures;
}

function labelsOf(text: string): Record<string, string> {
  return Object.fromEntries(
    [...text.matchAll(LABEL)].map(([, name = '', value = '']) => [
      name,
      value.replaceAll(/\\[n"\\]/g, (escaped) => ESCAPED[escaped] ?? escaped),
    ]),
  );
}

/**
 * Sums a metric by one of its labels, or into one sum under the empty name. Counts only samples with the wanted labels.
 */
export function sumsBy(
  samples: readonly Sample[] | undefined,
  label: string | undefined,
  where: Readonly<Record<string, readonly string[]>> = {},
): Map<string, number> {
  const sums = new Map<string, number>();
  for (const { labels, value } of samples ?? []) {
    if (Object.entries(where).some(([name, wanted]) => !wanted.includes(labels[name] ?? ''))) continue;
    const key = label === undefined ? '' : (labels[label] ?? '');
    sums.set(key, (sums.get(key) ?? 0) + value);
  }
  return sums;
}

/**
 * The value below which a part of the observations lies, from the buckets of a histogram; undefined without
 * observations.
 */
export function quantile(buckets: readonly Sample[], part: number): number | undefined {
  const upTo = [...sumsBy(buckets, 'le')]
    .map(([bound, count]) => ({ bound: bound === '+Inf' ? Number.POSITIVE_INFINITY : Number(bound), count }))
    .sort((a, b) => a.bound - b.bound);
  const total = upTo.at(-1)?.count ?? 0;
  if (total === 0) return undefined;
  const rank = part * total;
  let below = { bound: 0, count: 0 };
  for (const bucket of upTo) {
    if (bucket.count >= rank) {
      if (!Number.isFinite(bucket.bound) || bucket.count === below.count) return below.bound;
      return below.bound + ((rank - below.count) / (bucket.count - below.count)) * (bucket.bound - below.bound);
    }
    below = bucket;
  }
  return below.bound;
}
