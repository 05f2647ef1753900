import { Counter, Gauge, Histogram, type Registry } from 'prom-client';
import { METRICS, type MetricLabel, type MetricName } from './metric-table.ts';

/** Makes the instruments of {@link METRICS} in a registry, each once. */
export class Instruments {
  readonly #registers: Registry[];

  constructor(registry: Registry) {
    this.#registers = [registry];
  }

  counter<N extends MetricName<'counter'>>(name: N): Counter<MetricLabel<N>> {
    return new Counter({ registers: this.#registers, name, ...described<MetricLabel<N>>(name) });
  }

  gauge<N extends MetricName<'gauge'>>(name: N): Gauge<MetricLabel<N>> {
    return new Gauge({ registers: this.#registers, name, ...described<MetricLabel<N>>(name) });
  }

  histogram<N extends MetricName<'histogram'>>(name: N): Histogram<MetricLabel<N>> {
    const buckets = [...METRICS[name].buckets];
    return new Histogram({ registers: this.#registers, name, buckets, ...described<MetricLabel<N>>(name) });
  }
}

function described<L extends string>(name: keyof typeof METRICS): { help: string; labelNames: L[] } {
  const { help, labels } = METRICS[name];
  return { help, labelNames: [...labels] as string[] as L[] };
}
