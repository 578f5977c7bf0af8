"""The playbook for hosts, as text: it is the same for every fleet.

A host remembers in a file of facts which applications come to it, with the role and the values of
each, so that one that is assigned no more can be taken away as it was set up, even when nothing
else remembers it. One that fails is told at the end and stops only what needs it.

A host that runs the playbook itself also keeps the role it ran, because what it is fed with holds
only what is assigned to it now. Where a playbook is run from elsewhere, the roles of the repository
are all there is: tasks that a host hands back would run with the rights of whoever runs it.
"""

from __future__ import annotations

PLAYBOOK = """\
# Brings the hosts of an inventory to what it says of them; written by Trellis.
- name: Bring hosts to what is assigned to them
  hosts: all
  gather_facts: false
  vars:
    trellis_root: "{{ playbook_dir | dirname }}"
    trellis_facts_directory: @FACTS@
    trellis_roles_kept: "{{ trellis_facts_directory }}/trellis.roles"
    trellis_is_here: "{{ ansible_connection | default('') == 'local' }}"
  tasks:
    - name: Recall what runs here
      ansible.builtin.setup:
        fact_path: "{{ trellis_facts_directory }}"

    - name: Read what is assigned
      ansible.builtin.set_fact:
        trellis_failed: []
        trellis_here: "{{ ansible_facts.ansible_local.trellis.applications | default([]) }}"
        trellis_fleet: >-
          {{ (lookup('ansible.builtin.file',
                     trellis_root ~ '/fleet/' ~ trellis_settings ~ '/settings.json') | from_json)
             if trellis_settings | default('') else {} }}
        trellis_units: >-
          {%- set found = namespace(units={}) -%}
          {%- for name, line in (trellis_applications | default({})).items() -%}
          {%- set overlay = trellis_root ~ '/apps/' ~ name ~ '/overlays/' ~ line.overlay -%}
          {%- set unit = lookup('ansible.builtin.file', overlay ~ '/vars.json') | from_json -%}
          {%- set given = namespace(values=unit['values']) -%}
          {%- for key, value in (line.late | default('{}', true) | from_json).items() -%}
          {%- set below = namespace(value=value) -%}
          {%- for part in key.replace('\\\\.', '/').split('.') | reverse -%}
          {%- set below.value = {part.replace('/', '.'): below.value} -%}
          {%- endfor -%}
          {%- set given.values = given.values | combine(below.value, recursive=true) -%}
          {%- endfor -%}
          {%- set unit = unit | combine({'values': given.values}) -%}
          {%- set found.units = found.units | combine({name: unit}) -%}
          {%- endfor -%}
          {{ found.units }}

    - name: Put what others need before them
      ansible.builtin.set_fact:
        trellis_order: >-
          {%- set found = namespace(order=[]) -%}
          {%- for _ in trellis_units -%}
          {%- for name, unit in trellis_units.items() if name not in found.order -%}
          {%- if unit.needs | intersect(trellis_units.keys() | list)
                 | difference(found.order) | length == 0 -%}
          {%- set found.order = found.order + [name] -%}
          {%- endif -%}
          {%- endfor -%}
          {%- endfor -%}
          {{ found.order }}

    - name: Note what goes and what comes
      ansible.builtin.set_fact:
        trellis_going: "{{ trellis_here | rejectattr('application', 'in', trellis_order) | list }}"
        trellis_coming: >-
          {%- set found = namespace(coming=[]) -%}
          {%- for name in trellis_order -%}
          {%- set unit = trellis_units[name] -%}
          {%- set one = {'application': name, 'role': unit.role, 'values': unit['values']} -%}
          {%- set found.coming = found.coming + [one] -%}
          {%- endfor -%}
          {{ found.coming }}

    - name: Make room for what is remembered
      ansible.builtin.file:
        path: "{{ trellis_facts_directory }}"
        state: directory
        mode: "0755"
      when: not ansible_check_mode

    - name: Remember both
      ansible.builtin.copy:
        content: "{{ {'applications': trellis_going + trellis_coming} | to_json }}"
        dest: "{{ trellis_facts_directory }}/trellis.fact"
        mode: "0600"
      when: not ansible_check_mode

    - name: Take away what is assigned no more
      ansible.builtin.include_tasks: removal.yaml
      loop: "{{ trellis_going | reverse | list }}"
      loop_control:
        loop_var: trellis_gone
        label: "{{ trellis_gone.application }}"

    - name: Bring what is assigned
      ansible.builtin.include_tasks: present.yaml
      loop: "{{ trellis_order }}"
      loop_control:
        loop_var: trellis_application

    - name: Forget what is gone
      ansible.builtin.copy:
        content: "{{ {'applications': trellis_left + trellis_coming} | to_json }}"
        dest: "{{ trellis_facts_directory }}/trellis.fact"
        mode: "0600"
      vars:
        trellis_left: "{{ trellis_going | selectattr('application', 'in', trellis_failed) | list }}"
      when: trellis_going | length > 0 and not ansible_check_mode

    - name: Tell what failed
      ansible.builtin.fail:
        msg: "These did not come to what is assigned: {{ trellis_failed | join(', ') }}"
      when: trellis_failed | length > 0
"""

PRESENT_TASKS = """\
# Brings one application to a host, or notes that it failed; written by Trellis.
- name: Bring the application
  vars:
    trellis_unit: "{{ trellis_units[trellis_application] }}"
    trellis_values: "{{ trellis_unit['values'] }}"
    trellis_role: "{{ trellis_root }}/{{ trellis_unit.role }}"
    trellis_kept: "{{ trellis_roles_kept }}/{{ trellis_application }}"
  block:
    - name: See that what it needs is there
      ansible.builtin.assert:
        that: trellis_unit.needs | intersect(trellis_failed) | length == 0
        fail_msg: "it needs {{ trellis_unit.needs | intersect(trellis_failed) | join(', ') }}"
        quiet: true

    - name: Keep the role for the day it goes
      ansible.builtin.command:
        argv:
          - sh
          - -ec
          - |
            if diff -rq "$1" "$2" >/dev/null 2>&1; then exit 0; fi
            mkdir -p "$(dirname "$2")"
            rm -rf "$2.new"
            cp -RLp "$1" "$2.new"
            rm -rf "$2"
            mv "$2.new" "$2"
            echo kept
          - sh
          - "{{ trellis_role }}"
          - "{{ trellis_kept }}"
      register: trellis_keeping
      changed_when: trellis_keeping.stdout != ''
      when: trellis_is_here and not ansible_check_mode

    - name: Run the owner's tasks
      ansible.builtin.include_role:
        name: "{{ trellis_role }}"
  rescue:
    - name: Note that it failed
      ansible.builtin.set_fact:
        trellis_failed: "{{ trellis_failed + [trellis_application] }}"
"""

REMOVAL_TASKS = """\
# Takes an application from a host, or notes that it failed; written by Trellis.
- name: Take the application away
  vars:
    trellis_application: "{{ trellis_gone.application }}"
    trellis_values: "{{ trellis_gone['values'] }}"
    trellis_role: "{{ trellis_root }}/{{ trellis_gone.role }}"
    trellis_kept: "{{ trellis_roles_kept }}/{{ trellis_application }}"
    # where nothing is in its place, the next copy is whole, or the role never ran
    trellis_copy: "{{ trellis_kept if trellis_kept is directory else trellis_kept ~ '.new' }}"
    trellis_has_copy: "{{ trellis_is_here and trellis_copy is directory }}"
  block:
    - name: Run the owner's tasks for the day it goes, as they came with it
      ansible.builtin.include_role:
        name: "{{ trellis_copy if trellis_has_copy else trellis_role }}"
        tasks_from: absent
  rescue:
    - name: Take it away as the repository says by now
      block:
        - name: Run the owner's tasks as they are now
          ansible.builtin.include_role:
            name: "{{ trellis_role }}"
            tasks_from: absent
      rescue:
        - name: Note that it failed
          ansible.builtin.set_fact:
            trellis_failed: "{{ trellis_failed + [trellis_application] }}"

- name: Let go of the role it came with
  ansible.builtin.command:
    argv: [rm, -rf, "{{ trellis_kept }}.new", "{{ trellis_kept }}"]
  vars:
    trellis_kept: "{{ trellis_roles_kept }}/{{ trellis_gone.application }}"
  when:
    - trellis_is_here and not ansible_check_mode
    - trellis_gone.application not in trellis_failed
"""
