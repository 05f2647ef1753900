import { Counter, Gauge, Histogram, type Registry } from 'prom-client';
import { METRICS, type MetricLabel, type MetricName } from './metric-table.ts';

/** Creates the instruments of {@link METRICS} in a registry, each once. */
export class Instruments {
  readonly #registers: Registry[];

  constructor(registry: Registry) {
    this.#registers = [registry];
  }

  /** @param onRead called before it is read, to bring it up to date */
  counter<N extends MetricName<'counter'>>(
    name: N,
    onRead?: (counter: Counter<MetricLabel<N>>) => void,
  ): Counter<MetricLabel<N>> {
    const collect = onRead && (() => onRead(counter));
    const counter: Counter<MetricLabel<N>> = new Counter({
      registers: this.#registers,
      name,
      ...described<MetricLabel<N>>(name),
      ...(collect && { collect }),
    });
    return counter;
  }

  /** @param onRead called before it is read, to bring it up to date */
  gauge<N extends MetricName<'gauge'>>(
    name: N,
    onRead?: (gauge: Gauge<MetricLabel<N>>) => void,
  ): Gauge<MetricLabel<N>> {
    const collect = onRead && (() => onRead(gauge));
    const gauge: Gauge<MetricLabel<N>> = new Gauge({
      registers: this.#registers,
      name,
      ...described<MetricLabel<N>>(name),
      ...(collect && { collect }),
    });
    return gauge;
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
