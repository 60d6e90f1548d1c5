// SPDX-License-Identifier: BSD-2-Clause
// The line below the head: whether the exporter lives, keeps up, and sees what
// it should.
import { useEffect, useRef, useState } from "preact/hooks";
import { useAnswer } from "./answers.js";
import { bytes, clock, count, duration } from "./format.js";

export function useSummary() {
  return useAnswer("/api/v1/summary", (data) => (data?.behind ? 1 : 3));
}

function CatchUp({ behind }) {
  const most = useRef(0);
  const sources = Object.entries(behind.sources);
  const left = sources.reduce((sum, [, source]) => sum + source.bytes, 0);
  most.current = Math.max(most.current, left);
  const pace = behind.events_per_second;
  return (
    <div class="notice" role="status" id="catch-up">
      <label for="progress">The exporter is catching up:</label>{" "}
      {sources.map(([name, source]) => `${name} ${bytes(source.bytes)}, about `
        + `${count(source.events)} events`).join("; ")}
      {pace > 0 && `; ${count(pace)} events a second`}
      {behind.seconds_left !== null
        && `; about ${duration(behind.seconds_left)} left`}.
      {" "}Newer mail is not shown yet.
      <progress id="progress" max={most.current || 1}
        value={most.current - left} />
    </div>
  );
}

function Dead({ summary }) {
  const [since] = useState(() => new Date());
  const refused = summary.error.status;
  return (
    <p class="notice wrong" role="alert" id="dead">
      <span aria-hidden="true">! </span>
      {refused ? `The exporter answers ${refused}`
        : "The exporter does not answer"} since {clock(since)}.
      {summary.at && ` What is shown is of ${clock(summary.at)}.`}
      {" "}It is asked again every few seconds; mail is not affected.
    </p>
  );
}

const DETECTION = {
  blind: "Losses cannot be told at the moment: a source of the loss detection"
    + " is missing.",
  off: "Loss detection is off: Postfix's log is not read.",
};

export function Status({ summary }) {
  const [waited, setWaited] = useState(false);
  useEffect(() => {
    const timer = setTimeout(() => setWaited(true), 2000);
    return () => clearTimeout(timer);
  }, []);
  const { data, error } = summary;
  return (
    <div class="status">
      {error && <Dead summary={summary} />}
      {!data && !error && waited && (
        <p class="notice" role="status">Waiting for the exporter…</p>
      )}
      {data && !error && !data.ready && !data.behind && (
        <p class="notice wrong" role="status">
          <span aria-hidden="true">! </span>
          The exporter is not ready: see <a href="/-/ready">/-/ready</a>.
        </p>
      )}
      {data && !error && data.behind && <CatchUp behind={data.behind} />}
      {data && DETECTION[data.loss_detection] && (
        <p class="notice quiet">{DETECTION[data.loss_detection]}</p>
      )}
    </div>
  );
}
