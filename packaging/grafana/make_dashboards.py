#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""Writes dashboards/*.json, which Grafana reads, from what stands in blocks.py,
panels.py and health_panels.py:

    python3 packaging/grafana/make_dashboards.py
"""

import json
import os

import health_panels as health
import panels
from blocks import (custom_variable, dashboard, dashboard_link,
                    data_source_variable, link, query_variable, row, table)
from panels import LATENCY, OF_ROUTE, Selection

DIRECTORY = os.path.join(os.path.dirname(os.path.abspath(__file__)),
                         "dashboards")
OVERVIEW, HOST = "postlag-overview", "postlag-host"
KEPT = "${datasource:queryparam}&${histograms:queryparam}"
HISTOGRAMS = custom_variable(
    "histograms", "Histograms", "Which kind Prometheus keeps: native where it "
    "scrapes native histograms, else classic.",
    {"classic": "seconds_bucket", "native": "seconds"})


def variables(matching, *, one_host):
    """`matching` are the matchers of a job's instances."""
    return [
        data_source_variable(),
        query_variable("job", "Job", "label_values(postlag_build_info, job)",
                       many=not one_host),
        query_variable(
            "instance", "Host",
            f"label_values(postlag_build_info{{{matching}}}, instance)",
            many=not one_host),
        query_variable(
            "route", "Route", f"label_values(postlag_{LATENCY}_$histograms"
            f"{{{matching}}}, route)", many=True),
        HISTOGRAMS,
    ]


def hosts(sel):
    by = "job, instance"
    to_host = link(
        "Open", f"/d/{HOST}?{KEPT}&var-job=${{__data.fields.Job}}"
        "&var-instance=${__value.raw}&${__url_time_range}") \
        | {"targetBlank": False}
    return table(
        "Hosts", "Each host's own dashboard is behind its name.",
        [("Accepted", sel.rate("messages_accepted_total", by=by),
          {"unit": "mps"}),
         ("99 % latency",
          sel.quantile("0.99", LATENCY, OF_ROUTE, ("job", "instance")),
          {"unit": "s"}),
         ("In flight", sel.now("recipients", 'state="in_flight"', by), {}),
         ("Deferred", sel.now("recipients", 'state="deferred"', by), {}),
         ("Oldest", sel.age("oldest_in_flight_timestamp_seconds", by=by),
          {"unit": "s"}),
         ("Lost", sel.now("recipients", 'state="lost"', by), {}),
         ("Loss detection", sel.now("loss_detection", 'state="on"', by),
          {"mappings": panels.ON_OR_NOT}),
         (None, sel.now("build_info", by=f"{by}, version"), {})],
        labels={"instance": ("Host", {"links": [to_host]}),
                "job": ("Job", {}), "version": ("Version", {})},
        sort_by="Host")


def overview():
    sel = Selection('job=~"$job",instance=~"$instance"')
    return dashboard(
        OVERVIEW, "Postlag: overview",
        "How long mail takes, where the time goes and what becomes of it, on "
        "all hosts.", tag="postlag",
        links=[dashboard_link("One host", f"/d/{HOST}?{KEPT}",
                              keep_time=True)],
        variables=variables('job=~"$job"', one_host=False),
        rows=[
            row("Now", panels.now(sel)),
            row("Latency", [
                panels.latency_heatmap(sel),
                panels.latency_percentiles(sel),
                panels.latency_by(sel, "route", "99 % latency by route"),
                panels.latency_by(sel, "instance", "99 % latency by host"),
                panels.where_the_time_goes(sel)]),
            row("Mail", [
                panels.outcomes(sel, width=12), panels.in_queue(sel, width=12),
                panels.deferrals(sel), panels.waiting_since(sel, "instance"),
                panels.losses(sel)]),
            row("Hosts", [hosts(sel)]),
            row("Health of Postlag", [
                health.last_event(sel, "instance, source"),
                health.behind(sel, "instance"), health.not_seen(sel),
                panels.loss_detection(sel),
                health.disk(sel, "instance, directory")]),
        ])


def host():
    sel = Selection('job="$job",instance="$instance"')
    page = "http://$instance/"
    to_page = panels.page_links(page)
    return dashboard(
        HOST, "Postlag: host and routes",
        "One host: each route's latency, each phase, and all that Postlag "
        "says of the mail and of itself.", tag="postlag",
        links=[dashboard_link("All hosts", f"/d/{OVERVIEW}?{KEPT}",
                              keep_time=True),
               dashboard_link("Postlag's page", page, keep_time=False)],
        variables=variables('job="$job"', one_host=True),
        rows=[
            row("Now", panels.now(sel, to_page["lost"])),
            row("Route $route", [
                panels.latency_heatmap(sel, "Latency, $route"),
                panels.latency_percentiles(sel, "Percentiles, $route")],
                repeat="route"),
            row("Phases", [
                panels.where_the_time_goes(sel, 12, to_page["phase"]),
                panels.deliveries(sel),
                *(panels.phase_percentile(sel, name, number, to_page["phase"])
                  for name, number in panels.QUANTILES.items())]),
            row("Mail", [
                panels.outcomes(sel, links=to_page["outcome"]),
                panels.in_queue(sel, links=to_page["state"]),
                panels.waiting_since(sel),
                panels.deferrals(sel), panels.attempts(sel),
                panels.filings(sel), panels.refusals(sel), panels.aborts(sel),
                panels.corrections(sel)]),
            row("Losses", [
                panels.losses(sel), panels.lost_now(sel, to_page["state"]),
                panels.loss_detection(sel), panels.lookups(sel)]),
            row("Health of Postlag", [part(sel) for part in (
                health.last_event, health.behind, health.catch_up,
                health.reading, health.journal_written, health.dropped,
                health.unstamped, health.waiting, health.strange,
                health.log_lines, health.log_gaps, health.log_limit,
                health.journal_damage, health.disk, health.store_size,
                health.store_commits, health.store_trouble)]),
        ])


def files():
    """{path: what it has to be}."""
    return {os.path.join(DIRECTORY, f"{made['uid']}.json"):
            json.dumps(made, indent=2, ensure_ascii=False) + "\n"
            for made in (overview(), host())}


if __name__ == "__main__":
    for path, text in files().items():
        with open(path, "w", encoding="utf-8") as out:
            out.write(text)
